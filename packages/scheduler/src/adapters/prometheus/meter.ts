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

/** One metric with one set of labels. Counts are gathered here and handed over at the next print: the library's own cost more than a dispatch can spare. */
interface Series {
  pending: number;
  readonly target: Target;
}

interface Target {
  inc?(by: number): void;
  set?(value: number): void;
  observe?(value: number): void;
}

interface Family {
  series(labels: Labels | undefined): Series;
  flush(): void;
}

export function createPrometheusMeter(): PrometheusMeter {
  const registry = new Registry();
  const asks: (() => void)[] = [];
  const families = new Map<MetricName, Family>();
  for (const [name, entry] of Object.entries(METRICS) as [MetricName, MetricEntry][]) {
    families.set(name, createFamily(openTarget(name, entry, registry), entry.labels ?? []));
  }

  return {
    contentType: registry.contentType,
    count(name, labels, by = 1) {
      const series = families.get(name)?.series(labels);
      if (series !== undefined) series.pending += by;
    },
    gauge: (name, value, labels) => families.get(name)?.series(labels).target.set?.(value),
    observe: (name, value, labels) => families.get(name)?.series(labels).target.observe?.(value),
    async print() {
      for (const ask of asks) ask();
      for (const family of families.values()) family.flush();
      return registry.metrics();
    },
    onPrint: (ask) => asks.push(ask),
  };
}

function openTarget(name: string, entry: MetricEntry, registry: Registry): (labels: Labels) => Target {
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
function createFamily(open: (labels: Labels) => Target, names: readonly string[]): Family {
  const known = new Map<string, Series>();
  const start = (labels: Labels): Series => ({ pending: 0, target: open(labels) });
  const unlabelled = names.length === 0 ? start({}) : undefined;
  let other: Series | undefined;

  function find(labels: Labels): Series {
    const key =
      names.length === 1 ? (labels[names[0] as string] ?? '') : names.map((name) => labels[name]).join('\n');
    const series = known.get(key);
    if (series !== undefined) return series;
    if (known.size >= MAX_LABEL_SETS) {
      other ??= start(Object.fromEntries(names.map((name) => [name, OTHER])));
      return other;
    }
    // Only the labels of the table: the library throws at others.
    const opened = start(Object.fromEntries(names.map((name) => [name, labels[name] ?? ''])));
    known.set(key, opened);
    return opened;
  }

  function handOver(series: Series | undefined): void {
    if (series === undefined || series.pending === 0) return;
    series.target.inc?.(series.pending);
    series.pending = 0;
  }

  return {
    series: (labels) => unlabelled ?? find(labels ?? {}),
    flush() {
      handOver(unlabelled);
      handOver(other);
      for (const series of known.values()) handOver(series);
    },
  };
}
