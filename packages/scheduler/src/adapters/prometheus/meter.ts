/** Measurements in Prometheus form. The only place that knows prom-client, which prints what is counted here. */
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
  const registry = new Registry();
  const asks: (() => void)[] = [];
  const families = new Map<string, Family>();
  for (const [name, entry] of Object.entries<MetricEntry>(METRICS)) {
    const family = new Family(entry);
    families.set(name, family);
    // All that the library asks of a metric; it asks all of them in one turn, so that a print is of one moment.
    const metric = {
      name,
      get: async () => ({ name, help: entry.help, type: entry.kind, values: family.printed(name) }),
    };
    registry.registerMetric(metric as unknown as Counter);
  }

  const familyOf = (name: MetricName, kind: MetricEntry['kind']): Family | undefined => {
    const family = families.get(name);
    return family?.kind === kind ? family : undefined;
  };

  const reader: MeterReader = {
    series: (name) => families.get(name)?.readings() ?? [],
    distributions: (name) => families.get(name)?.distributions() ?? [],
  };

  return {
    contentType: registry.contentType,
    reader,
    count(name, labels, by = 1) {
      const series = familyOf(name, 'counter')?.find(labels);
      if (series !== undefined) series.value += by;
    },
    gauge(name, value, labels) {
      const series = familyOf(name, 'gauge')?.find(labels);
      if (series !== undefined) series.value = value;
    },
    observe: (name, value, labels) => familyOf(name, 'histogram')?.observe(value, labels),
    print() {
      for (const ask of asks) ask();
      return registry.metrics();
    },
    read() {
      for (const ask of asks) ask();
      return reader;
    },
    onPrint: (ask) => asks.push(ask),
  };
}
