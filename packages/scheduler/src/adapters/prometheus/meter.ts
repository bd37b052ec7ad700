/** Measurements in Prometheus form. The only place that knows prom-client, which prints what is counted here. */
import { setImmediate } from 'node:timers/promises';
import { type Counter, Registry } from 'prom-client';
import { METRICS, type MetricEntry, type MetricName } from '../../domain/metrics.ts';
import type { Meter, MeterReader } from '../../ports/meter.ts';
import { Family } from './series.ts';

export interface PrometheusMeter extends Meter {
  readonly contentType: string;
  print(): Promise<string>;
  /** The series as they are now, every `onPrint` asked before. */
  read(): MeterReader;
  /** The same, nobody asked. */
  readonly reader: MeterReader;
  /** Runs before each print and read, for gauges that are cheaper to ask than to keep. */
  onPrint(ask: () => void): void;
}

export function createPrometheusMeter(): PrometheusMeter {
  const asks: (() => void)[] = [];
  const families = new Map<string, Family>();
  for (const [name, entry] of Object.entries<MetricEntry>(METRICS)) families.set(name, new Family(entry));

  /** All that the library asks of a metric, as it is now. */
  function taken(name: MetricName): Counter {
    const { help, kind: type } = METRICS[name];
    const values = families.get(name)?.printed(name) ?? [];
    return { name, get: async () => ({ name, help, type, values }) } as unknown as Counter;
  }

  /** Apart, so that one look tells both whether there is such a metric and whether it is counted this way. */
  const ofKind = (kind: MetricEntry['kind']): ReadonlyMap<string, Family> =>
    new Map([...families].filter(([, family]) => family.kind === kind));
  const counters = ofKind('counter');
  const gauges = ofKind('gauge');
  const histograms = ofKind('histogram');

  const reader: MeterReader = {
    series: (name) => families.get(name)?.readings() ?? [],
    distributions: (name) => families.get(name)?.distributions() ?? [],
  };

  return {
    contentType: Registry.PROMETHEUS_CONTENT_TYPE,
    reader,
    count(name, labels, by = 1) {
      const series = counters.get(name)?.find(labels);
      if (series !== undefined) series.value += by;
    },
    gauge(name, value, labels) {
      const series = gauges.get(name)?.find(labels);
      if (series !== undefined) series.value = value;
    },
    observe: (name, value, labels) => histograms.get(name)?.observe(value, labels),
    async print() {
      for (const ask of asks) ask();
      // All at one moment; written down in slices, because thousands of lines take longer than cold work may (I6).
      const metrics = NAMES.map(taken);
      const texts: string[] = [];
      for (let from = 0; from < metrics.length; from += METRICS_PER_SLICE) {
        if (from > 0) await setImmediate();
        const slice = new Registry();
        for (const metric of metrics.slice(from, from + METRICS_PER_SLICE)) slice.registerMetric(metric);
        texts.push(await slice.metrics());
      }
      return texts.join('\n');
    },
    read() {
      for (const ask of asks) ask();
      return reader;
    },
    onPrint: (ask) => asks.push(ask),
  };
}

const NAMES = Object.keys(METRICS) as MetricName[];
/** None has many more than 200 lines. */
const METRICS_PER_SLICE = 4;
