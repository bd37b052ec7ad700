/** Latencies as a curve of how many jobs took how long, on a logarithmic axis, which shows tails and peers side by side. */
import { type Counts, createHistogram, upperEndMs } from '../open-loop/histogram.ts';
import { amount } from '../show.ts';
import { createAxis } from './axis.ts';
import { chart } from './chart.ts';

export interface Latencies {
  readonly name: string;
  readonly colour: number;
  readonly counts: Counts;
  readonly isDashed?: boolean;
}

/** Buckets of the histogram per bucket of the chart: 24 per doubling are too many for a chart. */
const TOGETHER = 8;

interface Bin {
  readonly fromMs: number;
  readonly toMs: number;
  readonly share: number;
}

export function binsOf({ buckets }: Counts): readonly Bin[] {
  const counts = new Map<number, number>();
  let all = 0;
  for (const [bucket, count] of buckets) {
    const bin = Math.floor(bucket / TOGETHER);
    counts.set(bin, (counts.get(bin) ?? 0) + count);
    all += count;
  }
  const [first, last] = [Math.min(...counts.keys()), Math.max(...counts.keys())];
  if (all === 0) return [];
  return Array.from({ length: last - first + 1 }, (_, index) => first + index).map((bin) => ({
    fromMs: upperEndMs(bin * TOGETHER - 0.5),
    toMs: upperEndMs((bin + 1) * TOGETHER - 0.5),
    share: (100 * (counts.get(bin) ?? 0)) / all,
  }));
}

export function latencyChart(title: string, all: readonly Latencies[]): string {
  const drawn = all.map(({ counts, ...look }) => ({ ...look, counts, bins: binsOf(counts) }));
  const series = drawn.map(({ name, colour, counts, bins, isDashed = false }) => {
    const times = createHistogram(counts);
    const [p50, p99] = [times.percentile(0.5), times.percentile(0.99)];
    return {
      name: `${name}: p50 ${amount(p50)}, p99 ${amount(p99)} ms`,
      colour,
      isDashed,
      isArea: true,
      points: bins.flatMap(({ fromMs, toMs, share }) => [
        { x: fromMs, y: share },
        { x: toMs, y: share },
      ]),
    };
  });
  const xs = drawn.flatMap(({ bins }) => bins.flatMap(({ fromMs, toMs }) => [fromMs, toMs]));
  const ys = drawn.flatMap(({ bins }) => bins.map(({ share }) => share));
  return chart({
    title,
    x: createAxis('milliseconds from when it was due', 'log', xs),
    y: createAxis('% of jobs', 'linear', ys),
    series,
  });
}
