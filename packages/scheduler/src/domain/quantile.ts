/** Percentiles out of a histogram. Pure. */

/**
 * The value below which the part `q` of all observations lies, as Prometheus estimates it: evenly spread within their bucket. What lies
 * above the last bound counts as that bound; nothing observed is 0.
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
