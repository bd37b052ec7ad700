/** Alarms and dashboards use only metrics, labels and values that exist: in the table, in the source, and in a running scheduler's /metrics. */
import { describe, expect, it } from 'vitest';
import { METRICS, type MetricEntry } from '../../src/domain/metrics.ts';
import { sources } from '../architecture/source-files.ts';
import { joinSdkNode, OUTPUT } from '../e2e/support/sdk-node.ts';
import { startApp } from '../e2e/support/start-app.ts';
import { expand, groupingsIn, readAlerts, readDashboards, seriesIn } from './ops-files.ts';

interface Use {
  readonly where: string;
  readonly expr: string;
  readonly legend: string;
}

const uses: readonly Use[] = [
  ...readAlerts().map(({ name, expr }) => ({ where: name, expr, legend: '' })),
  ...readDashboards().flatMap(({ file, panels, templating }) => [
    ...panels.flatMap(({ title, targets = [] }) =>
      targets.map(({ expr, legendFormat }) => ({
        where: `${file}: ${title}`,
        expr: expand(expr),
        legend: legendFormat,
      })),
    ),
    ...templating.list.map(({ name, query }) => ({ where: `${file}: $${name}`, expr: query, legend: '' })),
  ]),
];

const TABLE: Readonly<Record<string, MetricEntry>> = METRICS;
/** Added by Prometheus to all it scrapes. */
const SCRAPED = ['instance', 'job'];
const PART = /_(bucket|sum|count)$/;

/** Of a part of a histogram, the histogram. */
const familyOf = (name: string): string => (name in TABLE ? name : name.replace(PART, ''));
const entryOf = (name: string): MetricEntry | undefined => TABLE[familyOf(name)];

const labelsOf = (name: string): readonly string[] => [
  ...(entryOf(name)?.labels ?? []),
  ...SCRAPED,
  ...(name.endsWith('_bucket') ? ['le'] : []),
];

describe('alarms and dashboards', () => {
  it('use only metrics of the table', () => {
    const unknown = uses.flatMap(({ where, expr }) =>
      seriesIn(expr).flatMap(({ metric }) => (entryOf(metric) === undefined ? [`${where}: ${metric}`] : [])),
    );
    expect(unknown).toEqual([]);
  });

  it('use only labels that these metrics have', () => {
    const unknown = uses.flatMap(({ where, expr, legend }) => {
      const series = seriesIn(expr);
      const known = new Set(series.flatMap(({ metric }) => labelsOf(metric)));
      const chosen = series.flatMap(({ metric, labels }) =>
        labels.filter((label) => !labelsOf(metric).includes(label)),
      );
      const shown = [...legend.matchAll(/\{\{\s*(\w+)\s*\}\}/g)].map(([, label = '']) => label);
      const others = [...groupingsIn(expr), ...shown].filter((label) => !known.has(label));
      return [...chosen, ...others].map((label) => `${where}: ${label}`);
    });
    expect(unknown).toEqual([]);
  });

  it('show only labels that are left after grouping', () => {
    const lost = uses.flatMap(({ where, expr, legend }) => {
      const [, groups] = /\bby \(([^)]*)\)/.exec(expr) ?? [];
      const isGrouped = /^(?:sum|max|min|histogram_quantile)\b/.test(expr);
      const left = isGrouped ? (groups ?? '').split(',').map((label) => label.trim()) : undefined;
      const shown = [...legend.matchAll(/\{\{\s*(\w+)\s*\}\}/g)].map(([, label = '']) => label);
      return shown.filter((label) => left?.includes(label) === false).map((label) => `${where}: ${label}`);
    });
    expect(lost).toEqual([]);
  });

  it('compare labels only with values that the source knows', () => {
    const text = sources.map((file) => file.text).join('\n');
    const unknown = uses.flatMap(({ where, expr }) =>
      seriesIn(expr)
        .flatMap(({ values }) => values)
        .filter((value) => value !== '.*' && !text.includes(`'${value}'`) && !isSetting(value))
        .map((value) => `${where}: ${value}`),
    );
    expect(unknown).toEqual([]);
  });

  it('count with rates what is counted, and never what is a level', () => {
    const wrong = uses.flatMap(({ where, expr }) =>
      [...expr.matchAll(/\b(rate|increase)\((scheduler_\w+)/g)]
        .filter(([, , metric = '']) => entryOf(metric)?.kind === 'gauge')
        .map(([found]) => `${where}: ${found}`),
    );
    const bare = uses.flatMap(({ where, expr }) =>
      [
        ...expr.matchAll(
          /(?<!\b(?:rate|increase)\()\b(scheduler_\w+_total|scheduler_\w+_bucket)\b(?!.*(?:unless|offset))/g,
        ),
      ]
        .filter(() => !expr.includes('unless'))
        .map(([, metric]) => `${where}: ${metric}`),
    );
    expect([...wrong, ...bare]).toEqual([]);
  });

  it('leave no metric of the table without a panel or an alarm, but those that say nothing by themselves', () => {
    const used = new Set(uses.flatMap(({ expr }) => seriesIn(expr).map(({ metric }) => familyOf(metric))));
    const unseen = Object.keys(TABLE).filter((name) => !used.has(name));
    expect(unseen.filter((name) => !WITHOUT_PANEL.has(name))).toEqual([]);
  });
});

/** Read by people who follow one of the others up; docs/metrics.md has them. */
const WITHOUT_PANEL: ReadonlySet<string> = new Set([
  'scheduler_http_waits',
  'scheduler_http_waits_refused_total',
  'scheduler_invalid_messages_total',
  'scheduler_job_listeners',
  'scheduler_live_events_skipped_total',
  'scheduler_jobs_retained',
  'scheduler_model_na_last_reaction_seconds',
  'scheduler_model_na_marked_total',
  'scheduler_model_na_rate_limited_by_node_total',
  'scheduler_request_bindings',
  'scheduler_web_task_pause_ms',
]);

const isSetting = (value: string): boolean =>
  Object.values<MetricEntry>(METRICS).some(({ kind, limits }) => kind === 'gauge' && limits?.includes(value));

describe('a running scheduler', () => {
  it('prints every metric that alarms and dashboards use, with the limits they ask for', async () => {
    const app = await startApp();
    await joinSdkNode({ url: app.nodeUrl, onJob: async () => OUTPUT });
    await app.readyNodes(1);
    await app.settled((await app.dispatch()).job_id);
    const { body } = await app.get<string>('/metrics');
    const printed = new Set([...body.matchAll(/^# TYPE (\w+)/gm)].map(([, name = '']) => name));
    const missing = uses
      .flatMap(({ expr }) => seriesIn(expr).map(({ metric }) => familyOf(metric)))
      .filter((name) => !printed.has(name));
    expect([...new Set(missing)]).toEqual([]);
    const limits = uses.flatMap(({ expr }) =>
      [...expr.matchAll(/scheduler_limit\{[^}]*setting="([^"]+)"/g)].map(([, setting = '']) => setting),
    );
    for (const setting of limits)
      expect(body).toMatch(new RegExp(`^scheduler_limit\\{setting="${setting}"\\} [1-9]`, 'm'));
  });
});
