/** Which languages are translated into which: capacity, waiting and refusals per pair, why, and what one more node would change. */
import type { LanguageCell, LanguagesReply, SimulateReply } from '@lingua/protocol';
import { useResource } from '../data/use-resource.ts';
import { route, setQuery } from '../shell/router.ts';
import { count, duration, languageName, UNKNOWN } from '../show/format.ts';
import { Answered, Empty, Facts, Loaded, NodeLink } from '../show/parts.tsx';
import { t, tOr } from '../texts/text.ts';

const REFRESH_MS = 5_000;

export function Languages() {
  const resource = useResource<LanguagesReply>('api/v1/languages', REFRESH_MS);
  return (
    <>
      <h1>{t('nav.languages')}</h1>
      <p class="quiet">{t('languages.intro')}</p>
      <Loaded of={resource}>{(reply) => <Matrix reply={reply} />}</Loaded>
    </>
  );
}

function Matrix({ reply }: { reply: LanguagesReply }) {
  const cells = new Map(reply.cells.map((cell) => [`${cell.src} ${cell.tgt}`, cell]));
  if (cells.size === 0) return <Empty>{t('languages.empty')}</Empty>;
  const chosen = route.value.query.get('pair') ?? '';
  const shown = cells.get(chosen.replace('-', ' '));
  const sources = [...new Set(reply.cells.map(({ src }) => src))].sort();
  const targets = [...new Set(reply.cells.map(({ tgt }) => tgt))].sort();
  return (
    <>
      <Answered answered={reply.answered} unreachable={reply.unreachable} />
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by keyboard. */}
      <section class="table-box" aria-label={t('nav.languages')} tabIndex={0}>
        <table class="matrix">
          <thead>
            <tr>
              <td>{t('languages.from_to')}</td>
              {targets.map((target) => (
                <th key={target} scope="col" title={languageName(target)}>
                  {target}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {sources.map((source) => (
              <tr key={source}>
                <th scope="row" title={languageName(source)}>
                  {source}
                </th>
                {targets.map((target) => (
                  <td key={target}>
                    <CellButton
                      cell={cells.get(`${source} ${target}`)}
                      isChosen={chosen === `${source}-${target}`}
                    />
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      {reply.truncated && <p class="quiet">{t('page.truncated')}</p>}
      {shown === undefined ? <p class="quiet">{t('languages.choose')}</p> : <Why cell={shown} />}
    </>
  );
}

function CellButton({ cell, isChosen }: { cell: LanguageCell | undefined; isChosen: boolean }) {
  if (cell === undefined) return <span class="quiet">{UNKNOWN}</span>;
  // Which nodes serve speech of an unknown language depends on the languages that it may be.
  const isShort = (cell.ready === 0 && cell.src !== 'auto') || cell.refused > 0;
  const tone = isShort ? 'short' : (cell.free === 0 && cell.src !== 'auto') || cell.waiting > 0 ? 'busy' : '';
  return (
    <button
      type="button"
      class={tone}
      aria-pressed={isChosen}
      onClick={() => setQuery({ pair: isChosen ? '' : `${cell.src}-${cell.tgt}` })}
    >
      <span class="unseen">
        {cell.src} → {cell.tgt}{' '}
      </span>
      {cell.src === 'auto' ? count(cell.in_flight) : `${count(cell.free)} / ${count(cell.slots)}`}
      <small>
        {cell.src === 'auto'
          ? t('figure.in_flight')
          : cell.waiting > 0
            ? t('languages.cell_waiting', { count: cell.waiting })
            : t('languages.cell_nodes', { count: cell.ready })}
        {cell.text_only && ` · ${t('languages.text_only')}`}
      </small>
    </button>
  );
}

function Why({ cell }: { cell: LanguageCell }) {
  const { src, tgt, one_more_node: more, expected_wait_ms: wait } = cell;
  const path = `api/v1/phase3/simulate?src_lang=${encodeURIComponent(src)}&tgt_lang=${encodeURIComponent(tgt)}`;
  const why = useResource<SimulateReply>(path, REFRESH_MS);
  return (
    <div class="columns side">
      <section class="card" aria-live="polite">
        <h2>
          {languageName(src)} → {languageName(tgt)}
        </h2>
        <Facts
          rows={[
            [t('languages.nodes'), `${count(cell.ready)} / ${count(cell.nodes)}`],
            [t('languages.free'), `${count(cell.free)} / ${count(cell.slots)}`],
            [t('languages.waiting'), count(cell.waiting)],
            [t('figure.in_flight'), count(cell.in_flight)],
            [t('languages.refused'), count(cell.refused)],
            [t('languages.wait'), wait === undefined ? t('languages.no_estimate') : duration(wait)],
            [
              t('languages.one_more'),
              more === undefined
                ? t('languages.no_estimate')
                : t('languages.one_more_text', { slots: more.slots, wait: duration(more.expected_wait_ms) }),
            ],
          ]}
        />
      </section>
      <section class="card">
        <h2>{t('languages.why')}</h2>
        <Loaded of={why}>{(reply) => <Reasons reply={reply} />}</Loaded>
      </section>
    </div>
  );
}

function Reasons({ reply }: { reply: SimulateReply }) {
  const { total_nodes: total = 0, eligible = 0, ...rejected } = reply.breakdown;
  const reasons = Object.entries(rejected).filter(([, nodes]) => nodes > 0);
  return (
    <>
      <p>
        {t('languages.eligible', { eligible: count(eligible), total: count(total) })}{' '}
        {reply.selected_node_id !== undefined && (
          <>
            {t('languages.for_example')} <NodeLink id={reply.selected_node_id} />
          </>
        )}
      </p>
      {reasons.length > 0 && (
        <Facts
          rows={reasons
            .sort(([, a], [, b]) => b - a)
            .map(([reason, nodes]) => [
              tOr(`reject.${reason}`, reason),
              t('languages.cell_nodes', { count: nodes }),
            ])}
        />
      )}
    </>
  );
}
