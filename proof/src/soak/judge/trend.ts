/**
 * How fast a series grows, robustly: Theil and Sen's median of all pairwise slopes, which outliers do not move, with Sen's lower
 * bound. Its width is Kendall's, widened where neighbours are correlated (Hamed and Rao; Marriott and Pope). Pure.
 */

export interface Point {
  /** Seconds since the load began. */
  readonly at: number;
  readonly value: number;
}

export interface Trend {
  readonly perSecond: number;
  /** The true slope is rarely less: with `z` = 3.1, once in a thousand. */
  readonly perSecondAtLeast: number;
}

/** Correlation of neighbours up to this, in units of 1/√n, counts as chance. */
const NO_CHANCE = 1.96;
/** The largest correlation assumed: more than this in a few points would be chance. */
const MOST_LIKE = 0.9;
/**
 * A series that grows ever faster is correlated, too: if fewer than one in thirteen pairs of points fall, that is growth whatever
 * its shape.
 */
const MOST_DOUBT = 0.85;

/** At least five points. */
export function trendOf(points: readonly Point[], z: number): Trend {
  const slopes = slopesOf(points);
  const perSecond = medianOf(slopes);
  const rest = points.map(({ at, value }) => value - perSecond * at);
  const deviation = Math.sqrt(kendallVariance(points.length) * likenessOf(ranksOf(rest)));
  const doubt = Math.min(z * deviation, slopes.length * MOST_DOUBT);
  // Of so many slopes, sorted, so many may be below the true one.
  const lowest = Math.floor((slopes.length - doubt) / 2);
  return { perSecond, perSecondAtLeast: slopes[lowest] ?? Number.NEGATIVE_INFINITY };
}

function slopesOf(points: readonly Point[]): number[] {
  const slopes: number[] = [];
  for (const [index, one] of points.entries()) {
    for (const other of points.slice(index + 1)) {
      if (other.at > one.at) slopes.push((other.value - one.value) / (other.at - one.at));
    }
  }
  return slopes.sort((one, other) => one - other);
}

/** Of the number of pairs that rise minus those that fall, if there is no trend. */
const kendallVariance = (count: number): number => (count * (count - 1) * (2 * count + 5)) / 18;

/**
 * How much wider the bound must be because neighbouring points are correlated; never narrower than without correlation. The greater
 * of two: over every significant lag, and as if each depended only on the one before, which a few points show better.
 */
function likenessOf(ranks: readonly number[]): number {
  const count = ranks.length;
  let sum = 0;
  for (let lag = 1; lag < count - 2; lag += 1) {
    const likeness = correlation(ranks, lag);
    if (Math.abs(likeness) > NO_CHANCE / Math.sqrt(count))
      sum += (count - lag) * (count - lag - 1) * (count - lag - 2) * likeness;
  }
  // Few points make it look smaller than it is.
  const next = Math.min(MOST_LIKE, (count * correlation(ranks, 1) + 1) / (count - 4));
  return Math.max(1, 1 + (2 * sum) / (count * (count - 1) * (count - 2)), (1 + next) / (1 - next));
}

function correlation(values: readonly number[], lag: number): number {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  let [together, alone] = [0, 0];
  for (const [index, value] of values.entries()) {
    alone += (value - mean) ** 2;
    const later = values[index + lag];
    if (later !== undefined) together += (value - mean) * (later - mean);
  }
  return alone === 0 ? 0 : together / alone;
}

/** Equal values share the middle of their ranks. */
function ranksOf(values: readonly number[]): number[] {
  return values.map((value) => {
    const below = values.filter((other) => other < value).length;
    const equal = values.filter((other) => other === value).length;
    return below + (equal - 1) / 2;
  });
}

/** Of sorted values. */
export function medianOf(sorted: readonly number[]): number {
  const middle = (sorted.length - 1) / 2;
  return ((sorted[Math.floor(middle)] ?? 0) + (sorted[Math.ceil(middle)] ?? 0)) / 2;
}
