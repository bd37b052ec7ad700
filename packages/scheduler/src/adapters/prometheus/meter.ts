/** Measurements in Prometheus form. The only place that knows prom-client. */
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { METRICS, type MetricEntry, type MetricName } from '../../domain/metrics.ts';
import type { Labels, Meter } from '../../ports/meter.ts';

const SECONDS = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5];
/** Label sets per metric; what comes after is counted under `other`. */
const MAX_LABEL_SETS = 200;
const OTHER = 'other';

export interface PrometheusMeter extends Meter {
  readonly contentType: string;
  print(): Promise<string>;
  /** Runs before each print, for gauges that are cheaper to ask than to keep. */
  onPrint(ask: () => void): void;
}

export function createPrometheusMeter(): PrometheusMeter {
  const registry = new Registry();
  const asks: (() => void)[] = [];
  const counters = new Map<MetricName, Counter>();
  const gauges = new Map<MetricName, Gauge>();
  const histograms = new Map<MetricName, Histogram>();
  const seen = new Map<MetricName, Set<string>>();

  for (const [name, entry] of Object.entries(METRICS) as [MetricName, MetricEntry][]) {
    const options = { name, help: entry.help, labelNames: [...(entry.labels ?? [])], registers: [registry] };
    if (entry.kind === 'counter') counters.set(name, new Counter(options));
    else if (entry.kind === 'gauge') gauges.set(name, new Gauge(options));
    else histograms.set(name, new Histogram({ ...options, buckets: SECONDS }));
  }

  /** Bounds the label sets: a peer that invents label values must not fill the memory (I11). */
  function bounded(name: MetricName, labels: Labels): Labels {
    const known = seen.get(name) ?? new Set<string>();
    seen.set(name, known);
    const key = Object.values(labels).join('\n');
    if (known.has(key)) return labels;
    if (known.size < MAX_LABEL_SETS) {
      known.add(key);
      return labels;
    }
    return Object.fromEntries(Object.keys(labels).map((label) => [label, OTHER]));
  }

  return {
    contentType: registry.contentType,
    count(name, labels, by = 1) {
      if (labels === undefined) counters.get(name)?.inc(by);
      else counters.get(name)?.inc(bounded(name, labels), by);
    },
    gauge(name, value, labels) {
      if (labels === undefined) gauges.get(name)?.set(value);
      else gauges.get(name)?.set(bounded(name, labels), value);
    },
    observe(name, value, labels) {
      if (labels === undefined) histograms.get(name)?.observe(value);
      else histograms.get(name)?.observe(bounded(name, labels), value);
    },
    async print() {
      for (const ask of asks) ask();
      return registry.metrics();
    },
    onPrint: (ask) => asks.push(ask),
  };
}
