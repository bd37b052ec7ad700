/** One node: what it can do, how it does, what it did last, and the orders for it. */
import type { NodeDetail } from '@lingua/protocol';
import { type FleetNode, healthOf } from '../data/fleet.ts';
import { fleet, fleetVersion } from '../data/live-feed.ts';
import { useResource } from '../data/use-resource.ts';
import { linkTo, route } from '../shell/router.ts';
import { duration, percent } from '../show/format.ts';
import { OrderButton } from '../show/order-button.tsx';
import { Ago, Answered, Empty, Facts, JobLink, Loaded, Numeric, State, Table } from '../show/parts.tsx';
import { t, tOr } from '../texts/text.ts';

const REFRESH_MS = 2_000;

export function NodePage() {
  const { id } = route.value;
  const resource = useResource<NodeDetail>(`api/v1/nodes/${encodeURIComponent(id)}`, REFRESH_MS);
  fleetVersion.value;
  const live = fleet.current.get(id);
  return (
    <>
      <p class="crumbs">
        <a href={linkTo('fleet')}>{t('nav.fleet')}</a> / {id}
      </p>
      <Loaded of={resource}>{(node) => <Detail node={node} live={live} onOrder={resource.reload} />}</Loaded>
    </>
  );
}

function Detail({
  node,
  live,
  onOrder,
}: {
  node: NodeDetail;
  live: FleetNode | undefined;
  onOrder: () => void;
}) {
  const path = `api/v1/nodes/${encodeURIComponent(node.node_id)}`;
  const failed = node.recent_attempts.filter(({ outcome }) => outcome === 'failed').length;
  return (
    <>
      <div class="title">
        <h1>{node.node_id}</h1>
        <State of={live === undefined ? node.status : healthOf(live)} />
        <span class="buttons">
          {node.cordoned ? (
            <OrderButton
              label={t('order.uncordon')}
              explanation={t('order.uncordon_doc')}
              path={`${path}/uncordon`}
              takesReason
              onDone={onOrder}
            />
          ) : (
            <OrderButton
              label={t('order.cordon')}
              explanation={t('order.cordon_doc')}
              path={`${path}/cordon`}
              takesReason
              isDangerous
              onDone={onOrder}
            />
          )}
          <OrderButton
            label={t('order.drain')}
            explanation={t('order.drain_doc')}
            path={`${path}/drain`}
            takesReason
            isDangerous
            onDone={onOrder}
          />
        </span>
      </div>
      {node.order_reason !== undefined && (
        <p class="notice">{t('node.order_reason', { reason: node.order_reason })}</p>
      )}
      {node.reason !== undefined && node.status !== 'ready' && <p class="notice">{node.reason}</p>}
      {failed > node.recent_attempts.length / 2 && (
        <p class="notice warning">{t('node.failing', { failed, of: node.recent_attempts.length })}</p>
      )}
      <div class="columns">
        <section class="card">
          <h2>{t('node.now')}</h2>
          <Slots used={node.used_slots} slots={node.max_concurrent_jobs} />
          <Facts
            rows={[
              [t('node.cpu'), percent(node.cpu_percent)],
              [t('node.gpu'), percent(node.gpu_percent)],
              [t('node.memory'), percent(node.mem_percent)],
              [t('node.heartbeat'), <Ago key="beat" at={node.last_heartbeat_at_ms} />],
              [t('node.registered'), <Ago key="since" at={node.registered_at_ms} full />],
              [t('column.instance'), node.instance_id ?? ''],
              [t('column.region'), [node.region, node.zone].filter(Boolean).join(' / ')],
              [t('column.version'), node.version ?? ''],
              [t('node.platform'), node.platform ?? ''],
              [t('node.delivery'), tOr(`delivery.${node.delivery}`, node.delivery)],
              [t('column.pools'), live?.pools.join(', ') ?? ''],
              [t('node.tenants'), node.private_to ?? t('node.all_tenants')],
            ].filter((row): row is [string, string] => row[1] !== '')}
          />
        </section>
        <Abilities node={node} />
      </div>
      <Attempts node={node} />
    </>
  );
}

function Slots({ used, slots }: { used: number; slots: number }) {
  return (
    <div class="slots">
      <span class="slot-row" aria-hidden="true">
        {Array.from({ length: Math.min(64, slots) }, (_, index) => (
          <i key={index} class={index < used ? 'slot taken' : 'slot'} />
        ))}
      </span>
      <span>{t('fleet.slots', { used, slots })}</span>
    </div>
  );
}

function Abilities({ node }: { node: NodeDetail }) {
  const { languages } = node;
  const row = (label: string, items: readonly string[]): [string, string] => [label, items.join(', ')];
  const marks = node.marks.map(({ service_id, phase }) => `${service_id} (${tOr(`mark.${phase}`, phase)})`);
  return (
    <section class="card">
      <h2>{t('node.abilities')}</h2>
      <Facts
        rows={[
          row(t('node.types'), node.ready_types),
          row(t('node.hears'), languages.asr),
          row(t('node.from'), languages.nmt_sources),
          row(t('node.to'), languages.nmt_targets),
          row(
            t('node.pairs'),
            languages.nmt_pairs.map((pair) => Object.values(pair).join(' → ')),
          ),
          row(t('node.speaks'), languages.tts),
          row(
            t('node.services'),
            node.services.map(({ service_id, ready }) =>
              ready ? service_id : `${service_id} (${t('node.not_ready')})`,
            ),
          ),
          row(t('node.features'), node.features),
          row(t('node.marks'), marks),
          row(t('node.supports'), node.supports.length === 0 ? [t('node.legacy')] : node.supports),
        ].filter(([, value]) => value !== '')}
      />
    </section>
  );
}

function Attempts({ node }: { node: NodeDetail }) {
  return (
    <section>
      <h2>{t('node.attempts')}</h2>
      <Answered unreachable={node.unreachable} />
      {node.recent_attempts.length === 0 ? (
        <Empty>{t('node.no_attempts')}</Empty>
      ) : (
        <Table
          label={t('node.attempts')}
          head={[
            t('column.job'),
            t('column.outcome'),
            t('column.reason'),
            `#${t('column.duration')}`,
            t('column.ended'),
          ]}
        >
          {node.recent_attempts.map((attempt) => (
            <tr key={`${attempt.job_id}${attempt.attempt_id}`}>
              <th scope="row">
                <JobLink id={attempt.job_id} />
                {attempt.attempt_id > 1 && (
                  <span class="quiet"> {t('job.attempt', { number: attempt.attempt_id })}</span>
                )}
              </th>
              <td>
                <State of={attempt.outcome} />
              </td>
              <td>{attempt.reason && tOr(`error.${attempt.reason}`, attempt.reason)}</td>
              <Numeric>{duration(attempt.duration_ms)}</Numeric>
              <td>
                <Ago at={attempt.ended_at_ms} />
              </td>
            </tr>
          ))}
        </Table>
      )}
      <p class="quiet">
        <a href={linkTo('jobs', '', { node_id: node.node_id })}>{t('node.all_jobs')}</a>
      </p>
    </section>
  );
}
