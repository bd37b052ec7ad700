/** Nodes to be counted, and a meter that remembers. */
import type { MetricName } from '../../../src/domain/metrics.ts';
import type { CountedNode } from '../../../src/management/node-registry.ts';
import type { StatsPart } from '../../../src/management/stats/stats-part.ts';
import type { Meter } from '../../../src/ports/meter.ts';

export const countedNode = (nodeId: string, fields: Partial<CountedNode> = {}): CountedNode => ({
  nodeId,
  report: { models: [] },
  profile: { readyServices: [], readyTypes: [] },
  resources: { runningJobs: 0 },
  identity: {},
  efficiencies: undefined,
  ...fields,
});

export const NOTHING: StatsPart = {
  activeUsers: 0,
  languages: [],
  connectedNodes: 0,
  models: [],
  services: [],
  types: [],
  typesInUse: [],
  power: { cpu: 0, gpu: 0, memory: 0 },
  details: [],
};

export function createCountingMeter(): Meter & { counted(name: MetricName, ...labels: string[]): number } {
  const counts = new Map<string, number>();
  return {
    count(name, labels, by = 1) {
      const key = [name, ...Object.values(labels ?? {})].join(' ');
      counts.set(key, (counts.get(key) ?? 0) + by);
    },
    gauge: () => undefined,
    observe: () => undefined,
    counted: (...key) => counts.get(key.join(' ')) ?? 0,
  };
}

export const SILENT = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};

/** As a dashboard would never read it, but a test can. */
export function* printPlainly(stats: StatsPart): Generator<void, Buffer> {
  yield;
  return Buffer.from(JSON.stringify(stats));
}

/** To its end, without pauses. */
export function finish<T>(steps: Generator<void, T>): T {
  for (;;) {
    const { value, done } = steps.next();
    if (done === true) return value;
  }
}
