/** Counts of durations in buckets about 3 % wide: small enough to send between processes and to keep for every contestant. */

/** From 1 µs; below that everything is one bucket. */
const UNIT_MS = 0.001;
/** Buckets for each doubling. */
const PER_DOUBLING = 24;

/** As sent to another process: pairs of bucket and count. */
export interface Counts {
  readonly buckets: readonly (readonly [bucket: number, count: number])[];
  readonly maxMs: number;
}

export interface Histogram {
  readonly count: number;
  readonly maxMs: number;
  record(ms: number): void;
  add(counts: Counts): void;
  /** Upper end of the bucket that holds it, and never more than the longest. NaN if nothing was recorded. */
  percentile(share: number): number;
  counts(): Counts;
}

const bucketOf = (ms: number): number =>
  ms <= UNIT_MS ? 0 : Math.ceil(Math.log2(ms / UNIT_MS) * PER_DOUBLING);

export const upperEndMs = (bucket: number): number => UNIT_MS * 2 ** (bucket / PER_DOUBLING);

export function createHistogram(...parts: readonly Counts[]): Histogram {
  const buckets = new Map<number, number>();
  let count = 0;
  let maxMs = 0;
  function note(bucket: number, times: number): void {
    buckets.set(bucket, (buckets.get(bucket) ?? 0) + times);
    count += times;
  }
  const sorted = (): [number, number][] => [...buckets].sort(([a], [b]) => a - b);
  const histogram: Histogram = {
    get count() {
      return count;
    },
    get maxMs() {
      return maxMs;
    },
    record(ms) {
      note(bucketOf(ms), 1);
      if (ms > maxMs) maxMs = ms;
    },
    add(counts) {
      for (const [bucket, times] of counts.buckets) note(bucket, times);
      maxMs = Math.max(maxMs, counts.maxMs);
    },
    percentile(share) {
      let left = Math.max(1, Math.ceil(count * share));
      for (const [bucket, times] of sorted()) {
        left -= times;
        if (left <= 0) return Math.min(upperEndMs(bucket), maxMs);
      }
      return Number.NaN;
    },
    counts: () => ({ buckets: sorted(), maxMs }),
  };
  for (const part of parts) histogram.add(part);
  return histogram;
}
