/** The ops artefacts as data: alarms, dashboards and the runbook, and which metrics and labels an expression uses. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../architecture/source-files.ts';

export const ALERTS = join(ROOT, 'ops/prometheus/alerts.yml');
export const SCRAPE_CONFIG = join(ROOT, 'ops/prometheus/prometheus.yml');
export const ALERT_TESTS = join(ROOT, 'ops/prometheus/alerts.test.yml');
const GRAFANA = join(ROOT, 'ops/grafana');

export interface Alert {
  readonly name: string;
  readonly expr: string;
  /** How long it must hold before it fires; undefined: not at all. */
  readonly lasting: string | undefined;
  readonly severity: string;
  readonly summary: string;
  readonly runbookUrl: string;
}

/** Our own file has one form; whatever does not have it is not found, and promtool says how many there are. */
const ALERT =
  /- alert: (\w+)\n {8}expr: (?:'(.*)'|\|-\n((?: {10}.*\n)+))\n?(?: {8}for: (\S+)\n)? {8}labels: \{ severity: (\w+) \}\n {8}annotations:\n {10}summary: '?(.*?)'?\n {10}runbook_url: '(.*)'\n/g;

export const readAlerts = (): Alert[] =>
  [...readFileSync(ALERTS, 'utf8').matchAll(ALERT)].map(
    ([, name = '', short, long, lasting, severity = '', summary = '', runbookUrl = '']) => ({
      name,
      expr: (short ?? long ?? '').trim(),
      lasting,
      severity,
      summary,
      runbookUrl,
    }),
  );

export interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly description?: string;
  readonly datasource?: { readonly uid: string };
  readonly gridPos: { readonly h: number; readonly w: number; readonly x: number; readonly y: number };
  readonly fieldConfig?: { readonly defaults: { readonly unit?: string } };
  readonly targets?: readonly {
    readonly refId: string;
    readonly expr: string;
    readonly legendFormat: string;
  }[];
}

export interface Dashboard {
  readonly file: string;
  readonly uid: string;
  readonly title: string;
  readonly schemaVersion: number;
  readonly tags: readonly string[];
  readonly templating: {
    readonly list: readonly { readonly name: string; readonly type: string; readonly query: string }[];
  };
  readonly panels: readonly Panel[];
}

export const readDashboards = (): Dashboard[] =>
  readdirSync(GRAFANA)
    .filter((name) => name.endsWith('.json'))
    .map((file) => ({
      file,
      ...(JSON.parse(readFileSync(join(GRAFANA, file), 'utf8')) as Omit<Dashboard, 'file'>),
    }));

/** As Prometheus would get it from Grafana. */
export const expand = (expr: string): string =>
  expr.replaceAll('$__rate_interval', '5m').replaceAll('$instance', '.*');

export interface Used {
  readonly metric: string;
  readonly labels: readonly string[];
  readonly values: readonly string[];
}

/** Every series an expression asks for: its name, the labels it is chosen by, and the values they are compared with. */
export function seriesIn(expr: string): Used[] {
  return [...expr.matchAll(/\b(scheduler_\w+)(?:\{([^}]*)\})?/g)].map(([, metric = '', matchers = '']) => {
    const found = [...matchers.matchAll(/(\w+)\s*(?:=~|!~|!=|=)\s*"([^"]*)"/g)];
    return {
      metric,
      labels: found.map(([, label = '']) => label),
      values: found.flatMap(([, , value = '']) => value.split('|')),
    };
  });
}

/** Labels that results are grouped or matched by. */
export const groupingsIn = (expr: string): string[] =>
  [...expr.matchAll(/\b(?:by|without|ignoring|on|group_left|group_right)\s*\(([^)]*)\)/g)]
    .flatMap(([, labels = '']) => labels.split(',').map((label) => label.trim()))
    .filter((label) => label !== '');
