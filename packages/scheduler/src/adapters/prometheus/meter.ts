/** Counts the metrics of the table and prints them for Prometheus. */
import { setImmediate } from 'node:timers/promises';
import { METRICS, type MetricEntry, type MetricName } from '../../domain/metrics.ts';
import type { Meter, MeterReader } from '../../ports/meter.ts';
import { CONTENT_TYPE, expositionOf } from './exposition.ts';
import { Family } from './series.ts';

export interface PrometheusMeter extends Meter {
  readonly contentType: string;
  print(): Promise<string>;
  /** The current series, after every `onPrint` function has run. */
  read(): MeterReader;
  /** The current series, without running the `onPrint` functions. */
  readonly reader: MeterReader;
  /** `measure` runs before each print and read: for gauges that are cheaper to compute on demand than to keep up to date. */
  onPrint(measure: () => void): void;
}

export function createPrometheusMeter(): PrometheusMeter {
  const measures: (() => void)[] = [];
  const families = new Map<string, Family>();
  for (const [name, entry] of Object.entries<MetricEntry>(METRICS)) families.set(name, new Family(entry));

  /** One map per kind: one lookup finds the metric and checks its kind. */
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
    contentType: CONTENT_TYPE,
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
      for (const measure of measures) measure();
      // All values are copied in one turn. Their text is made in slices: thousands of lines take longer than cold work may (I6).
      const copies = NAMES.map((name) => [name, reader.series(name), reader.distributions(name)] as const);
      const texts: string[] = [];
      for (const [at, [name, series, histograms]] of copies.entries()) {
        if (at > 0 && at % METRICS_PER_SLICE === 0) await setImmediate();
        texts.push(expositionOf(name, METRICS[name], series, histograms));
      }
      return texts.join('');
    },
    read() {
      for (const measure of measures) measure();
      return reader;
    },
    onPrint: (measure) => measures.push(measure),
  };
}

const NAMES = Object.keys(METRICS) as MetricName[];
/** One metric has at most a few thousand lines (200 label sets, 20 buckets). */
const METRICS_PER_SLICE = 4;
