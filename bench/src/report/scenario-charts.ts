/** The charts of one scenario: curves over what it varies, latencies of its contestants, and the search for saturation. */
import type { Point, ScenarioReport } from '../scenario/run-scenario.ts';
import { shownAt } from '../scenario/scenario.ts';
import { FIGURES, type FigureId, OURS, PEERS, titleOf, type Who } from '../scenario/vocabulary.ts';
import { amount } from '../show.ts';
import { createAxis, type Scale } from './axis.ts';
import { chart, type Series } from './chart.ts';
import { latencyChart } from './latency-chart.ts';
import { contestantsOf } from './tables.ts';

/** Charts of a curve: figures that share a unit may share a chart. */
const CURVES: readonly { readonly title: string; readonly figures: readonly FigureId[] }[] = [
  { title: 'CPU per decision', figures: ['decision_cpu_us'] },
  { title: 'CPU per heartbeat', figures: ['heartbeat_cpu_us'] },
  { title: 'CPU per job', figures: ['cpu_us', 'redis_cpu_us'] },
  { title: 'Redis commands per job', figures: ['redis_commands'] },
  { title: 'Memory per session', figures: ['kb_per_session'] },
  { title: 'CPU per session and second', figures: ['cpu_us_per_session'] },
  { title: 'Due → with a node', figures: ['dispatch_p50_ms', 'dispatch_p99_ms'] },
];
/** More than this between the least and the most: a line would lie on the axis. */
const WIDE = 20;
/** For sessions, CPU per job shows the same as CPU per session. */
const isShown = ({ scenario }: ScenarioReport, figure: FigureId): boolean =>
  !(scenario.measures === 'sessions' && figure === 'cpu_us');

export const isLimit = (who: Who): boolean => who !== OURS && PEERS[who].isLimit;

export function scenarioCharts(report: ScenarioReport): string {
  const { vary } = report.scenario;
  const curves = vary === undefined ? [] : CURVES.flatMap((curve) => curveChart(report, curve));
  return [...curves, ...latencyCharts(report), ...saturationChart(report)].join('\n');
}

const scaleOf = (values: readonly number[]): Scale =>
  Math.min(...values) > 0 && Math.max(...values) / Math.min(...values) > WIDE ? 'log' : 'linear';

function curveChart(report: ScenarioReport, { title, figures }: (typeof CURVES)[number]): string[] {
  const { scenario, points } = report;
  const wanted = figures.filter((figure) => isShown(report, figure));
  const lines = wanted.flatMap((figure, index) =>
    contestantsOf(report).map((who, contestant): Series => {
      const places = points.flatMap((point) => placeOf(point, who, figure, shownAt(scenario, point.value)));
      const isAlone = wanted.length === 1;
      const name = isAlone ? titleOf(who) : `${titleOf(who)}: ${FIGURES[figure].title}`;
      return { name, colour: index + contestant * wanted.length, points: places, isDashed: isLimit(who) };
    }),
  );
  const series = lines.filter(({ points: { length } }) => length > 0);
  const values = series.flatMap(({ points: places }) => places.map(({ y }) => y));
  const [first] = wanted;
  if (values.length === 0 || first === undefined) return [];
  const across = scenario.vary?.values ?? [];
  return [
    chart({
      title,
      x: createAxis(scenario.vary?.field ?? '', scaleOf(across), across, across),
      y: createAxis(FIGURES[first].unit || 'per job', scaleOf(values), values),
      series,
    }),
  ];
}

function placeOf({ value = 0, results }: Point, who: Who, figure: FigureId, at: string) {
  const y = results[who]?.figures[figure];
  if (y === undefined || !Number.isFinite(y)) return [];
  return [{ x: value, y, tooltip: `${titleOf(who)}, ${at}: ${amount(y)} ${FIGURES[figure].unit}` }];
}

/** Contestants side by side; of a curve, its ends. */
function latencyCharts(report: ScenarioReport): string[] {
  const { scenario, points } = report;
  if (points.length === 1) {
    const all = contestantsOf(report).flatMap((who, colour) => {
      const counts = points[0]?.results[who]?.latencies;
      return counts === undefined || counts.buckets.length === 0
        ? []
        : [{ name: titleOf(who), colour, counts, isDashed: isLimit(who) }];
    });
    return all.length === 0
      ? []
      : [latencyChart(`Latencies at ${scenario.arrivals.rate.toLocaleString('en-US')}/s`, all)];
  }
  const ends = [points[0], points[points.length - 1]].flatMap((point, colour) => {
    const counts = point?.results[OURS]?.latencies;
    return counts === undefined || counts.buckets.length === 0
      ? []
      : [{ name: shownAt(scenario, point?.value), colour, counts }];
  });
  return ends.length === 0 ? [] : [latencyChart('Latencies at both ends of the curve', ends)];
}

function saturationChart({ scenario, points, ...report }: ScenarioReport): string[] {
  const { saturation } = scenario;
  if (saturation === undefined) return [];
  const series = contestantsOf({ scenario, points, ...report }).flatMap((who, colour): Series[] => {
    const result = points[0]?.results[who]?.saturation;
    if (result === undefined) return [];
    // A rate that was tried twice failed the first time for a reason that may have passed.
    const best = new Map<number, number>();
    for (const { rate, p99Ms } of result.tried) best.set(rate, Math.min(p99Ms, best.get(rate) ?? p99Ms));
    const tried = [...best].sort(([one], [other]) => one - other);
    return [
      {
        name: `${titleOf(who)}: ${result.isFound ? '' : 'more than '}${amount(result.rate)}/s`,
        colour,
        isDashed: isLimit(who),
        points: tried
          .filter(([, p99Ms]) => Number.isFinite(p99Ms))
          .map(([rate, p99Ms]) => ({
            x: rate,
            y: p99Ms,
            tooltip: `${titleOf(who)} at ${amount(rate)}/s: p99 ${amount(p99Ms)} ms`,
          })),
      },
    ];
  });
  const all = series.flatMap(({ points: places }) => places);
  return [
    chart({
      title: 'p99 as the rate goes up',
      x: createAxis(
        'per second',
        'log',
        all.map(({ x }) => x),
      ),
      y: createAxis('ms', 'log', [...all.map(({ y }) => y), saturation.p99Ms]),
      series,
      marks: [{ at: saturation.p99Ms, label: `${saturation.p99Ms} ms` }],
    }),
  ];
}
