/** Cold path: one metric in the text format that Prometheus reads. Pure. */
import type { MetricEntry } from '../../domain/metrics/metric-entry.ts';
import type { DistributionReading, Labels, SeriesReading } from '../../ports/meter.ts';

export const CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

/** `histograms` of a histogram, `series` of any other metric. */
export function expositionOf(
  name: string,
  { help, kind }: MetricEntry,
  series: readonly SeriesReading[],
  histograms: readonly DistributionReading[],
): string {
  const lines = [`# HELP ${name} ${escaped(help)}`, `# TYPE ${name} ${kind}`];
  if (kind === 'histogram') for (const histogram of histograms) addHistogram(lines, name, histogram);
  else for (const { labels, value } of series) lines.push(sample(name, labels, value));
  return `${lines.join('\n')}\n`;
}

/** Buckets are cumulative in the format: each counts the observations up to its bound. */
function addHistogram(lines: string[], name: string, histogram: DistributionReading): void {
  const { labels, bounds, buckets, count, sum } = histogram;
  let below = 0;
  for (const [at, bound] of bounds.entries()) {
    below += buckets[at] as number;
    lines.push(sample(`${name}_bucket`, { le: String(bound), ...labels }, below));
  }
  lines.push(
    sample(`${name}_bucket`, { le: '+Inf', ...labels }, count),
    sample(`${name}_sum`, labels, sum),
    sample(`${name}_count`, labels, count),
  );
}

function sample(name: string, labels: Labels, value: number): string {
  const pairs = Object.entries(labels).map(
    ([key, text]) => `${key}="${escaped(text).replaceAll('"', '\\"')}"`,
  );
  return `${name}${pairs.length === 0 ? '' : `{${pairs.join(',')}}`} ${numberText(value)}`;
}

const escaped = (text: string): string => text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');

const numberText = (value: number): string =>
  String(value).replace('Infinity', 'Inf').replace(/^Inf/, '+Inf');
