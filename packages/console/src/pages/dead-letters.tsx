/** Messages between instances that could not be handled: show, replay, purge. */
import type { DeadLettersReply, DeadLetterView } from '@lingua/protocol';
import { useState } from 'preact/hooks';
import { useResource } from '../data/use-resource.ts';
import { bytes, count } from '../show/format.ts';
import { OrderButton } from '../show/order-button.tsx';
import { Ago, Answered, Empty, JobLink, Loaded, NodeLink, Numeric, Table } from '../show/parts.tsx';
import { t } from '../texts/text.ts';

const REFRESH_MS = 10_000;

export function DeadLetters() {
  const resource = useResource<DeadLettersReply>('api/v1/dead-letters?limit=50', REFRESH_MS);
  const [shown, setShown] = useState('');
  return (
    <section>
      <div class="section-head">
        <h2>{t('letters.title')}</h2>
        {(resource.data?.letters.length ?? 0) > 0 && (
          <OrderButton
            label={t('order.purge')}
            explanation={t('order.purge_doc')}
            path="api/v1/dead-letters?all=true"
            method="DELETE"
            isDangerous
            onDone={resource.reload}
          />
        )}
      </div>
      <Loaded of={resource}>
        {({ letters, unreachable }) => (
          <>
            <Answered unreachable={unreachable} />
            {letters.length === 0 ? (
              <Empty>{t('letters.empty')}</Empty>
            ) : (
              <Table
                label={t('letters.title')}
                head={[
                  t('letters.id'),
                  t('letters.kind'),
                  t('column.instance'),
                  t('column.job'),
                  t('column.node'),
                  `#${t('letters.deliveries')}`,
                  `#${t('letters.size')}`,
                  t('column.ended'),
                  '',
                ]}
              >
                {letters.map((letter) => (
                  <tr key={letter.id}>
                    <th scope="row">
                      <button
                        type="button"
                        class="plain"
                        onClick={() => setShown(shown === letter.id ? '' : letter.id)}
                      >
                        {letter.id}
                      </button>
                    </th>
                    <td>{letter.kind}</td>
                    <td>{letter.instance_id}</td>
                    <td>
                      <JobLink id={letter.job_id} />
                    </td>
                    <td>
                      <NodeLink id={letter.node_id} />
                    </td>
                    <Numeric>{count(letter.deliveries)}</Numeric>
                    <Numeric>{bytes(letter.bytes)}</Numeric>
                    <td>
                      <Ago at={letter.died_at_ms} />
                    </td>
                    <td>
                      <OrderButton
                        label={t('order.replay')}
                        explanation={t('order.replay_doc')}
                        path={`api/v1/dead-letters/${encodeURIComponent(letter.id)}/replay`}
                        onDone={resource.reload}
                      />
                    </td>
                  </tr>
                ))}
              </Table>
            )}
          </>
        )}
      </Loaded>
      {shown !== '' && <Letter id={shown} />}
    </section>
  );
}

function Letter({ id }: { id: string }) {
  const resource = useResource<DeadLetterView>(`api/v1/dead-letters/${encodeURIComponent(id)}`);
  return (
    <Loaded of={resource}>
      {(letter) => <pre class="card side">{JSON.stringify(letter.body, null, 2)}</pre>}
    </Loaded>
  );
}
