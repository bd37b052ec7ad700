/**
 * Hot path: the series of one metric, counted in our own numbers and arrays. Handed to the library when somebody looks: its own
 * counting costs more than a dispatch, which is measured at every stage, can spare.
 */
import { type MetricEntry, USUAL_BUCKETS } from '../../domain/metrics/metric-entry.ts';
import type { DistributionReading, Labels, SeriesReading } from '../../ports/meter.ts';

/** Label sets per metric; what comes after is counted under `other`. */
const MAX_LABEL_SETS = 200;
/** Of metrics with several labels: sets of which one label is `other`. */
const MAX_OTHERS = 50;
const OTHER = 'other';

/** One metric with one set of labels. */
export interface Series {
  readonly labels: Labels;
  /** Of a counter or gauge; of a histogram how many observations. */
  value: number;
  sum: number;
  /** Per bucket, not added up; empty unless it is a histogram. A plain array: whole numbers in it are not boxed. */
  readonly buckets: number[];
}

/** What the library asks of a metric when it prints. */
export interface PrintedValue {
  readonly metricName?: string;
  readonly labels: Readonly<Record<string, string | number>>;
  readonly value: number;
}

/** All series of one metric. A class, because its methods are called several times per job: they are compiled once for all metrics. */
export class Family {
  readonly kind: MetricEntry['kind'];
  private readonly bounds: readonly number[];
  private readonly names: readonly string[];
  private readonly known = new Map<string, Series>();
  private only: Series | undefined;
  /** The label whose values are too many. */
  private widest: string | undefined;
  private rest: Series | undefined;

  constructor(entry: MetricEntry) {
    this.kind = entry.kind;
    this.names = entry.labels ?? [];
    this.bounds = entry.kind === 'histogram' ? (entry.buckets ?? USUAL_BUCKETS) : [];
    // A level nobody has told yet is not 0; what is counted begins there.
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
    // One that is none would make the sum useless for good.
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

  printed(name: string): PrintedValue[] {
    if (this.kind !== 'histogram') return this.readings();
    return this.all().flatMap((series) => this.printedBuckets(name, series));
  }

  private printedBuckets(name: string, { labels, value, sum, buckets }: Series): PrintedValue[] {
    let below = 0;
    const lines = this.bounds.map((bound, at) => {
      below += buckets[at] as number;
      return { metricName: `${name}_bucket`, labels: { le: bound, ...labels }, value: below };
    });
    return [
      ...lines,
      { metricName: `${name}_bucket`, labels: { le: '+Inf', ...labels }, value },
      { metricName: `${name}_sum`, labels, value: sum },
      { metricName: `${name}_count`, labels, value },
    ];
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
   * Bounded: a peer that invents label values must not fill the memory (I11). What it invents becomes `other`; what else the labels
   * say stays as long as it can, so that a failure is still one.
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
    // Only the labels of the table, and a copy: whoever gave them may change theirs.
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
