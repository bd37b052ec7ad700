/** What needs attention, the figures of the last second, and their last minutes as graphs. */
import type { Attention, FiguresPoint } from '@lingua/protocol';
import { useEffect, useState } from 'preact/hooks';
import { healthOf } from '../data/fleet.ts';
import { attention, figures, fleet, fleetVersion, stages } from '../data/live-feed.ts';
import { request } from '../data/request.ts';
import { linkTo } from '../shell/router.ts';
import { Chart } from '../show/chart.tsx';
import { count, duration, rate } from '../show/format.ts';
import { Empty, Numeric, Table, Tile } from '../show/parts.tsx';
import { t, tOr } from '../texts/text.ts';

const STAGES = ['wait', 'select', 'reserve', 'send', 'ack', 'run', 'deliver', 'total'];
/** Points in a graph, and the seconds between them. */
const SPANS = { minutes: { step: 1, points: 300 }, hour: { step: 10, points: 360 } } as const;
type Span = keyof typeof SPANS;

const sum = (values: Readonly<Record<string, number>>): number =>
  Object.values(values).reduce((total, value) => total + value, 0);
const perSecond = (value: number, { span_ms }: FiguresPoint): number => (1_000 * value) / span_ms;

export function Overview() {
  const now = figures.value;
  return (
    <>
      <h1>{t('nav.overview')}</h1>
      <AttentionList />
      {now === undefined ? <Empty>{t('page.loading')}</Empty> : <Tiles now={now} />}
      <Graphs />
      <Stages />
    </>
  );
}

function AttentionList() {
  const items = attention.value;
  if (items.length === 0) return <p class="all-well">{t('attention.none')}</p>;
  return (
    <section aria-label={t('attention.title')}>
      <ul class="attention">
        {items.map((item) => (
          <AttentionItem key={`${item.id}${item.target ?? ''}${item.text}`} item={item} />
        ))}
      </ul>
    </section>
  );
}

function AttentionItem({ item }: { item: Attention }) {
  const { id, severity, text, params, page, target, runbook } = item;
  const code = params?.code;
  const values = code === undefined ? params : { ...params, code: tOr(`error.${code}`, String(code)) };
  const words = values === undefined ? text : tOr(`attention.${id}`, text, values);
  return (
    <li class={severity}>
      <span class={`badge ${severity}`}>{tOr(`severity.${severity}`, severity)}</span>
      {page === undefined ? <span>{words}</span> : <a href={linkTo(page, target ?? '')}>{words}</a>}
      {runbook !== undefined && (
        <a class="quiet" href={linkTo('runbook', runbook)}>
          {t('attention.runbook')}
        </a>
      )}
    </li>
  );
}

function Tiles({ now }: { now: FiguresPoint }) {
  fleetVersion.value;
  const nodes = [...fleet.current.values()];
  const ready = nodes.filter((node) => ['ready', 'full'].includes(healthOf(node)));
  const used = ready.reduce((total, node) => total + node.used, 0);
  const slots = ready.reduce((total, node) => total + node.slots, 0);
  const refused = sum(now.refused);
  const [reason] = Object.entries(now.refused).sort(([, a], [, b]) => b - a)[0] ?? [];
  return (
    <div class="tiles">
      <Tile
        label={t('figure.admitted')}
        value={rate(perSecond(now.admitted, now))}
        note={t('figure.finished_note', { rate: rate(perSecond(now.finished, now)) })}
        href={linkTo('jobs')}
      />
      <Tile
        label={t('figure.in_flight')}
        value={count(now.in_flight)}
        note={t('figure.retries_note', { rate: rate(perSecond(now.retries, now)) })}
        href={linkTo('jobs', '', { outcome: 'running' })}
      />
      <Tile
        label={t('figure.waiting')}
        value={count(now.waiting)}
        note={
          now.waiting === 0
            ? t('figure.none_waiting')
            : t('figure.oldest', { age: duration(now.oldest_wait_ms) })
        }
        tone={now.waiting > 0 && (now.oldest_wait_ms ?? 0) > 5_000 ? 'warning' : ''}
        href={linkTo('jobs', '', { outcome: 'waiting' })}
      />
      <Tile
        label={t('figure.refused')}
        value={rate(perSecond(refused, now))}
        note={reason === undefined ? t('figure.none_refused') : tOr(`error.${reason}`, reason)}
        tone={refused > 0 ? 'warning' : ''}
        href={linkTo('languages')}
      />
      <Tile
        label={t('figure.failed')}
        value={rate(perSecond(now.failed, now))}
        note={t('figure.cancelled_note', { rate: rate(perSecond(now.cancelled, now)) })}
        tone={now.failed > 0 ? 'warning' : ''}
        href={linkTo('jobs', '', { outcome: 'failed' })}
      />
      <Tile
        label={t('figure.nodes')}
        value={`${count(ready.length)} / ${count(nodes.length)}`}
        note={t('figure.slots_note', { used: count(used), slots: count(slots) })}
        tone={nodes.length > 0 && ready.length === 0 ? 'critical' : ''}
        href={linkTo('fleet')}
      />
      <Tile
        label={t('figure.sessions')}
        value={count(now.sessions)}
        note={t('figure.connected_note', { count: count(now.connected) })}
        href={linkTo('sessions')}
      />
    </div>
  );
}

/** The history that the server has, continued by what the feed brings. */
function useHistory(span: Span): readonly FiguresPoint[] {
  const [points, setPoints] = useState<readonly FiguresPoint[]>([]);
  const { step, points: most } = SPANS[span];
  const latest = figures.value;

  useEffect(() => {
    const control = new AbortController();
    const read = (): void => {
      const since = Date.now() - step * most * 1_000;
      request<{ points: readonly FiguresPoint[] }>(`api/v1/history?step=${step}&since_ms=${since}`, {
        signal: control.signal,
      }).then(
        (reply) => setPoints(reply.points),
        () => undefined,
      );
    };
    read();
    const timer = setInterval(read, step === 1 ? 60_000 : 10_000);
    return () => {
      control.abort();
      clearInterval(timer);
    };
  }, [step, most]);

  useEffect(() => {
    if (step !== 1 || latest === undefined) return;
    setPoints((before) =>
      (before.at(-1)?.at_ms ?? 0) < latest.at_ms ? [...before.slice(1 - most), latest] : before,
    );
  }, [latest, step, most]);
  return points;
}

function Graphs() {
  const [span, setSpan] = useState<Span>('minutes');
  const points = useHistory(span);
  const times = points.map(({ at_ms }) => at_ms);
  const each = (value: (point: FiguresPoint) => number | undefined) =>
    points.map((point) => value(point) ?? null);
  return (
    <section>
      <div class="section-head">
        <h2>{t('overview.graphs')}</h2>
        <fieldset class="choice" aria-label={t('overview.span')}>
          {(['minutes', 'hour'] as const).map((name) => (
            <button key={name} type="button" aria-pressed={span === name} onClick={() => setSpan(name)}>
              {t(`overview.${name}`)}
            </button>
          ))}
        </fieldset>
      </div>
      <div class="charts">
        <Chart
          title={t('overview.traffic')}
          times={times}
          format={rate}
          lines={[
            {
              label: t('figure.admitted'),
              colour: '--series-1',
              values: each((p) => perSecond(p.admitted, p)),
              isFilled: true,
            },
            {
              label: t('figure.refused'),
              colour: '--series-3',
              values: each((p) => perSecond(sum(p.refused), p)),
            },
            { label: t('figure.failed'), colour: '--series-4', values: each((p) => perSecond(p.failed, p)) },
          ]}
        />
        <Chart
          title={t('overview.work')}
          times={times}
          format={count}
          isWhole
          lines={[
            {
              label: t('figure.in_flight'),
              colour: '--series-1',
              values: each((p) => p.in_flight),
              isFilled: true,
            },
            { label: t('figure.waiting'), colour: '--series-3', values: each((p) => p.waiting) },
            { label: t('figure.sessions'), colour: '--series-2', values: each((p) => p.sessions) },
          ]}
        />
        <Chart
          title={t('overview.latency')}
          times={times}
          format={duration}
          lines={[
            {
              label: 'p50',
              colour: '--series-1',
              values: each((p) => p.stages.total?.p50_ms),
              isSparse: true,
            },
            {
              label: 'p99',
              colour: '--series-2',
              values: each((p) => p.stages.total?.p99_ms),
              isSparse: true,
            },
          ]}
        />
        <Chart
          title={t('overview.waits')}
          times={times}
          format={duration}
          isWhole
          lines={[
            { label: t('overview.oldest'), colour: '--series-3', values: each((p) => p.oldest_wait_ms) },
            {
              label: t('overview.wait_p99'),
              colour: '--series-2',
              values: each((p) => p.stages.wait?.p99_ms),
              isSparse: true,
            },
          ]}
        />
      </div>
      <Refusals points={points} />
    </section>
  );
}

/** By reason, over the time that the graphs show. */
function Refusals({ points }: { points: readonly FiguresPoint[] }) {
  const totals = new Map<string, number>();
  for (const { refused } of points)
    for (const [code, requests] of Object.entries(refused))
      totals.set(code, (totals.get(code) ?? 0) + requests);
  if (totals.size === 0) return null;
  return (
    <>
      <h2 class="side">{t('overview.refusals')}</h2>
      <Table
        label={t('overview.refusals')}
        head={[t('column.reason'), `#${t('overview.requests')}`, t('overview.code')]}
      >
        {[...totals]
          .sort(([, a], [, b]) => b - a)
          .map(([code, requests]) => (
            <tr key={code}>
              <th scope="row">{tOr(`error.${code}`, code)}</th>
              <Numeric>{count(requests)}</Numeric>
              <td>
                <code>{code}</code>
              </td>
            </tr>
          ))}
      </Table>
    </>
  );
}

function Stages() {
  const seen = STAGES.filter((stage) => stages.value[stage] !== undefined);
  if (seen.length === 0) return null;
  return (
    <section>
      <h2>{t('overview.stages')}</h2>
      <Table
        label={t('overview.stages')}
        head={[t('overview.stage'), `#${t('overview.jobs')}`, '#p50', '#p99', '']}
      >
        {seen.map((stage) => {
          const { count: measured = 0, p50_ms, p99_ms } = stages.value[stage] ?? {};
          return (
            <tr key={stage}>
              <th scope="row">{tOr(`stage.${stage}`, stage)}</th>
              <Numeric>{count(measured)}</Numeric>
              <Numeric>{duration(p50_ms)}</Numeric>
              <Numeric>{duration(p99_ms)}</Numeric>
              <td class="quiet">{tOr(`stage_doc.${stage}`, '')}</td>
            </tr>
          );
        })}
      </Table>
    </section>
  );
}
