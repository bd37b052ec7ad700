/** The figures of an instance's /metrics. */
import type { RunningApp } from './start-app.ts';

export interface MetricsPage {
  readonly text: string;
  /** The first series with the given labels, in any order; undefined: there is none. */
  figure(name: string, labels?: Readonly<Record<string, string>>): number | undefined;
  /** Sum over all label sets. */
  total(name: string): number;
  /** Label value → figure. */
  by(name: string, label: string): Record<string, number>;
}

interface Line {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export async function metricsPage(app: Pick<RunningApp, 'get'>): Promise<MetricsPage> {
  const { body: text } = await app.get<string>('/metrics');
  const lines: Line[] = [...text.matchAll(/^(\w+)(?:\{(.*)\})? (\S+)$/gm)].map(
    ([, name = '', labels = '', value]) => ({
      name,
      labels: Object.fromEntries(
        [...labels.matchAll(/(\w+)="([^"]*)"/g)].map(([, key, word]) => [key, word]),
      ),
      value: Number(value),
    }),
  );
  const of = (name: string) => lines.filter((line) => line.name === name);
  return {
    text,
    figure: (name, labels = {}) =>
      of(name).find((line) => Object.entries(labels).every(([key, word]) => line.labels[key] === word))
        ?.value,
    total: (name) => of(name).reduce((sum, { value }) => sum + value, 0),
    by: (name, label) =>
      Object.fromEntries(of(name).map(({ labels, value }) => [labels[label] ?? '', value])),
  };
}
