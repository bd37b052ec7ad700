/**
 * Hot path: the series of one metric, in plain numbers and arrays. Each dispatch updates several of them, and a metrics library's
 * own counters would cost more than the decision itself.
 */
import { type MetricEntry, USUAL_BUCKETS } from '../../domain/metrics/metric-entry.ts';
import type { DistributionReading, Labels, SeriesReading } from '../../ports/meter.ts';

/** Label sets per metric; later ones are counted under `other`. */
const MAX_LABEL_SETS = 200;
/** Further label sets of a metric with several labels, in which one label is `other`. */
const MAX_OTHERS = 50;
const OTHER = 'other';

/** One metric with one set of labels. */
export interface Series {
  readonly labels: Labels;
  /** The value of a counter or gauge, or the number of observations of a histogram. */
  value: number;
  sum: number;
  /** Observations per bucket, not cumulative; empty unless it is a histogram. */
  readonly buckets: number[];
}

/** All series of one metric. A class: V8 compiles its methods, which run several times per job, once for all metrics. */
export class Family {
  readonly kind: MetricEntry['kind'];
  private readonly bounds: readonly number[];
  private readonly names: readonly string[];
  private readonly known = new Map<string, Series>();
  private only: Series | undefined;
  /** The label with the most values, once there are too many label sets. */
  private widest: string | undefined;
  private rest: Series | undefined;

  constructor(entry: MetricEntry) {
    this.kind = entry.kind;
    this.names = entry.labels ?? [];
    this.bounds = entry.kind === 'histogram' ? (entry.buckets ?? USUAL_BUCKETS) : [];
    // A counter starts at 0; a gauge has no value before it is set.
    if (this.names.length === 0 && entry.kind !== 'gauge') this.only = this.open({});
  }

  find(labels: Labels | undefined): Series {
    if (this.names.length === 0) {
      this.only ??= this.open({});
      return this.only;
    }
    const key = this.keyOf(labels ?? NO_LABELS);
    return this.known.get(key) ?? this.start(key, labels ?? NO_LABELS);
  }

  observe(value: number, labels: Labels | undefined): void {
    // A single NaN or Infinity would spoil the sum for ever.
    if (!Number.isFinite(value)) return;
    const series = this.find(labels);
    series.value += 1;
    series.sum += value;
    const { bounds } = this;
    let at = 0;
    while (at < bounds.length && value > (bounds[at] as number)) at += 1;
    series.buckets[at] = (series.buckets[at] as number) + 1;
  }

  readings(): SeriesReading[] {
    return this.all().map(({ labels, value }) => ({ labels, value }));
  }

  distributions(): DistributionReading[] {
    if (this.kind !== 'histogram') return [];
    const { bounds } = this;
    return this.all().map(({ labels, value, sum, buckets }) => ({
      labels,
      count: value,
      sum,
      bounds,
      buckets: [...buckets],
    }));
  }

  private all(): Series[] {
    return this.only === undefined ? [...this.known.values()] : [this.only];
  }

  private keyOf(labels: Labels): string {
    const { names } = this;
    let key = labels[names[0] as string] ?? '';
    for (let at = 1; at < names.length; at++) key += `\n${labels[names[at] as string] ?? ''}`;
    return key;
  }

  /**
   * Bounded: a peer that invents label values must not fill the memory (I11). The label with too many values becomes `other` first;
   * the other labels are kept as long as possible, so a failure is still counted as a failure.
   */
  private start(key: string, labels: Labels): Series {
    if (this.known.size < MAX_LABEL_SETS) return this.keep(key, labels);
    const narrow = this.names.length > 1 ? this.startNarrow(labels) : undefined;
    if (narrow !== undefined) return narrow;
    this.rest ??= this.startRest();
    return this.rest;
  }

  private startNarrow(labels: Labels): Series | undefined {
    this.widest ??= this.findWidest();
    const narrow = { ...labels, [this.widest]: OTHER };
    const key = this.keyOf(narrow);
    const known = this.known.get(key);
    if (known !== undefined || this.known.size >= MAX_LABEL_SETS + MAX_OTHERS) return known;
    return this.keep(key, narrow);
  }

  /** The label with the most values. */
  private findWidest(): string {
    const all = [...this.known.values()];
    const valuesOf = (name: string): number => new Set(all.map(({ labels }) => labels[name])).size;
    return this.names.reduce((widest, name) => (valuesOf(name) > valuesOf(widest) ? name : widest));
  }

  private startRest(): Series {
    const rest = Object.fromEntries(this.names.map((name) => [name, OTHER]));
    const restKey = this.keyOf(rest);
    return this.known.get(restKey) ?? this.keep(restKey, rest);
  }

  private keep(key: string, labels: Labels): Series {
    // A copy with the table's labels only: the caller may change its own object.
    const series = this.open(Object.fromEntries(this.names.map((name) => [name, labels[name] ?? ''])));
    this.known.set(key, series);
    return series;
  }

  private open(labels: Labels): Series {
    const isHistogram = this.kind === 'histogram';
    return { labels, value: 0, sum: 0, buckets: isHistogram ? [0, ...this.bounds.map(() => 0)] : [] };
  }
}

const NO_LABELS: Labels = {};
