/** Prints docs/metrics.md from the one metrics table. Pure. */
import { METRICS, type MetricEntry } from '../../domain/metrics.ts';
import { code, page, table } from './markdown.ts';

const INTRODUCTION = `# Metrics

Printed from the metrics table in \`packages/scheduler/src/domain/metrics.ts\` and the files beside it, one per area; do not edit it, \`npm run docs\` writes it.

- \`GET /metrics\` prints them for Prometheus. Where tokens are configured it needs one of the role metrics, or one that includes it ([roles](roles.md)).
- \`GET /api/v1/metrics\` shows the most useful of them as JSON, read from the very same series: top 20, percentiles, what overflowed.
- Names are contracts: dashboards and alerts read them.
- The label sets of each metric are bounded; what comes after the limit is counted under the value \`other\`.
- The last column names the settings whose limit shows in a metric: as a level below it, or as a count of what happened at it.
- Times are in seconds. A histogram has the usual \`_bucket\`, \`_sum\` and \`_count\`.`;

const KINDS = [
  ['counter', 'Counters', 'Only grow; restart at 0 with the process.'],
  ['gauge', 'Gauges', 'As of now.'],
  ['histogram', 'Histograms', 'How values are distributed.'],
] as const;

export function printMetrics(): string {
  const sections = KINDS.flatMap(([kind, heading, meaning]) => {
    const rows = rowsOf(kind);
    return rows.length === 0
      ? []
      : [`## ${heading}`, meaning, table(['metric', 'labels', 'meaning', 'limits'], rows)];
  });
  return page(INTRODUCTION, ...sections);
}

const rowsOf = (kind: MetricEntry['kind']): string[][] =>
  Object.entries<MetricEntry>(METRICS)
    .filter(([, entry]) => entry.kind === kind)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, { labels = [], help, limits = [] }]) => [
      code(name),
      labels.map(code).join(', '),
      help,
      limits.map(code).join(', '),
    ]);
