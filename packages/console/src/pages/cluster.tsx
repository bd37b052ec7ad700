/** The instances, their store, their dead letters, and the configuration in effect. */
import type { ClusterInstance, ClusterReply, TakeoversReply } from '@lingua/protocol';
import { mayAct } from '../data/credentials.ts';
import { useResource } from '../data/use-resource.ts';
import { count, duration } from '../show/format.ts';
import { Ago, Answered, Empty, Facts, Loaded, Numeric, State, Table } from '../show/parts.tsx';
import { t, tOr } from '../texts/text.ts';
import { DeadLetters } from './dead-letters.tsx';
import { Settings } from './settings.tsx';

const REFRESH_MS = 3_000;
/** Takeovers are rare, and each reading asks all instances. */
const SLOW_REFRESH_MS = 10_000;

export function Cluster() {
  const resource = useResource<ClusterReply>('api/v1/cluster', REFRESH_MS);
  return (
    <>
      <h1>{t('nav.cluster')}</h1>
      <Loaded of={resource}>
        {(reply) => (
          <>
            {reply.warnings.map((warning) => (
              <p key={warning} class="notice warning">
                {warning}
              </p>
            ))}
            <Instances instances={reply.instances} />
            <Store store={reply.store} />
          </>
        )}
      </Loaded>
      <Takeovers />
      <DeadLetters />
      {mayAct.value && <Settings />}
    </>
  );
}

function Instances({ instances }: { instances: readonly ClusterInstance[] }) {
  return (
    <section>
      <h2>{t('cluster.instances')}</h2>
      <Table
        label={t('cluster.instances')}
        head={[
          t('column.instance'),
          t('column.state'),
          `#${t('nav.fleet')}`,
          `#${t('nav.sessions')}`,
          `#${t('figure.in_flight')}`,
          `#${t('cluster.inbox')}`,
          `#${t('cluster.pending')}`,
          `#${t('cluster.letters')}`,
          t('column.version'),
          `#${t('cluster.uptime')}`,
          t('cluster.machine'),
        ]}
      >
        {instances.map((instance) => (
          <tr key={instance.instance_id}>
            <th scope="row">{instance.instance_id}</th>
            <td>
              <State of={instance.state} />
            </td>
            <Numeric>{count(instance.nodes)}</Numeric>
            <Numeric>{count(instance.sessions)}</Numeric>
            <Numeric>{count(instance.jobs_in_flight)}</Numeric>
            <Numeric>{count(instance.inbox_messages)}</Numeric>
            <Numeric>{count(instance.inbox_pending)}</Numeric>
            <Numeric>{count(instance.dead_letters)}</Numeric>
            <td>{instance.version}</td>
            <Numeric>{duration(instance.uptime_ms)}</Numeric>
            <td>{[instance.hostname, instance.pid].filter(Boolean).join(' · ')}</td>
          </tr>
        ))}
      </Table>
    </section>
  );
}

/** When an instance dies, others drive its jobs: here a person sees that, and how many. */
function Takeovers() {
  const resource = useResource<TakeoversReply>('api/v1/takeovers', SLOW_REFRESH_MS);
  return (
    <section>
      <h2>{t('cluster.takeovers')}</h2>
      <Loaded of={resource}>
        {({ takeovers, unreachable }) => (
          <>
            <Answered unreachable={unreachable} />
            {takeovers.length === 0 ? (
              <Empty>{t('cluster.no_takeovers')}</Empty>
            ) : (
              <Table
                label={t('cluster.takeovers')}
                head={[
                  t('cluster.taken_from'),
                  t('cluster.cause'),
                  t('cluster.taken_by'),
                  `#${t('nav.jobs')}`,
                  t('column.ended'),
                ]}
              >
                {takeovers.map((line) => (
                  <tr key={`${line.instance_id}${line.at_ms}`}>
                    <th scope="row">{line.instance_id}</th>
                    <td>{tOr(`takeover.${line.cause}`, line.cause)}</td>
                    <td>{line.taken_over_by}</td>
                    <Numeric>{count(line.jobs)}</Numeric>
                    <td>
                      <Ago at={line.at_ms} full />
                    </td>
                  </tr>
                ))}
              </Table>
            )}
          </>
        )}
      </Loaded>
    </section>
  );
}

function Store({ store }: { store: ClusterReply['store'] }) {
  return (
    <section class="card">
      <h2>{t('cluster.store')}</h2>
      <Facts
        rows={[
          [t('cluster.mode'), tOr(`store.${store.mode}`, store.mode)],
          [t('column.state'), store.ok ? t('cluster.store_ok') : (store.detail ?? t('cluster.store_down'))],
          ...(store.masters ?? []).map(({ address, ok }): [string, string] => [
            `${t('cluster.master')} ${address}`,
            t(ok ? 'cluster.store_ok' : 'cluster.store_down'),
          ]),
        ]}
      />
    </section>
  );
}
