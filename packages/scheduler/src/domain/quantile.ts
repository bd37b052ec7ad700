/** Percentiles of a histogram. Pure. */

/**
 * The value below which the share `q` of all observations lies, as Prometheus estimates it: evenly spread within a bucket. Values above the
 * last bound count as that bound; without observations it is 0.
 */
export function quantile(q: number, bounds: readonly number[], buckets: readonly number[]): number {
  const total = buckets.reduce((sum, bucket) => sum + bucket, 0);
  if (total === 0) return 0;
  const rank = q * total;
  let below = 0;
  for (const [at, bound] of bounds.entries()) {
    const inside = buckets[at] ?? 0;
    if (inside > 0 && below + inside >= rank) {
      const from = bounds[at - 1] ?? 0;
      return from + (bound - from) * ((rank - below) / inside);
    }
    below += inside;
  }
  return bounds.at(-1) ?? 0;
}
