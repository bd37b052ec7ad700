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

/** One metric with one set of labels. */
interface Series {
  inc?(by: number): void;
  set?(value: number): void;
  observe?(value: number): void;
}

interface Family {
  series(labels: Labels | undefined): Series;
}

export function createPrometheusMeter(): PrometheusMeter {
  const registry = new Registry();
  const asks: (() => void)[] = [];
  const families = new Map<MetricName, Family>();
  for (const [name, entry] of Object.entries(METRICS) as [MetricName, MetricEntry][]) {
    families.set(name, createFamily(openSeries(name, entry, registry), entry.labels ?? []));
  }

  return {
    contentType: registry.contentType,
    count: (name, labels, by = 1) => families.get(name)?.series(labels).inc?.(by),
    gauge: (name, value, labels) => families.get(name)?.series(labels).set?.(value),
    observe: (name, value, labels) => families.get(name)?.series(labels).observe?.(value),
    async print() {
      for (const ask of asks) ask();
      return registry.metrics();
    },
    onPrint: (ask) => asks.push(ask),
  };
}

function openSeries(name: string, entry: MetricEntry, registry: Registry): (labels: Labels) => Series {
  const options = { name, help: entry.help, labelNames: [...(entry.labels ?? [])], registers: [registry] };
  if (entry.kind === 'counter') {
    const counter = new Counter(options);
    return (labels) => counter.labels(labels);
  }
  if (entry.kind === 'gauge') {
    const gauge = new Gauge(options);
    return (labels) => gauge.labels(labels);
  }
  const histogram = new Histogram({ ...options, buckets: SECONDS });
  return (labels) => histogram.labels(labels);
}

/** Keeps each series at hand, and bounds them: a peer that invents label values must not fill the memory (I11). */
function createFamily(open: (labels: Labels) => Series, names: readonly string[]): Family {
  const known = new Map<string, Series>();
  const other = Object.fromEntries(names.map((name) => [name, OTHER]));
  const unlabelled = names.length === 0 ? open({}) : undefined;

  function find(labels: Labels): Series {
    const key =
      names.length === 1 ? (labels[names[0] as string] ?? '') : names.map((name) => labels[name]).join('\n');
    const series = known.get(key);
    if (series !== undefined) return series;
    if (known.size >= MAX_LABEL_SETS) return open(other);
    const opened = open(labels);
    known.set(key, opened);
    return opened;
  }

  return { series: (labels) => unlabelled ?? find(labels ?? {}) };
}
