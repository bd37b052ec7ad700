/** The highest rate at which p99 stays within its limit: by steps until it does not, then between the last two. Nothing is guessed. */

export interface Probe {
  readonly p99Ms: number;
  /** Share of refused jobs: a server that answers fast by refusing is saturated, too. */
  readonly refusedShare: number;
}

export interface SaturationOptions {
  /** Per second. */
  readonly from: number;
  readonly limitMs: number;
  readonly probe: (rate: number) => Promise<Probe>;
  /** The answer is this close to where it breaks; 0.1 = 10 %. */
  readonly precision: number;
  /** Nothing faster is tried: the load generator has a limit, too. */
  readonly most: number;
}

export interface Saturation {
  /** Highest rate seen within the limit; 0 if not even a small one was. */
  readonly rate: number;
  /** False: `most` was within the limit. */
  readonly isFound: boolean;
  /** Everything that was tried, in order. */
  readonly tried: readonly (Probe & { readonly rate: number; readonly isWithin: boolean })[];
}

const STEP = 2;
const MOST_REFUSED = 0.01;
const MOST_TRIES = 24;

export async function findSaturation(options: SaturationOptions): Promise<Saturation> {
  const { limitMs, precision, most } = options;
  const tried: (Probe & { rate: number; isWithin: boolean })[] = [];
  async function once(rate: number): Promise<boolean> {
    const probe = await options.probe(rate);
    const isWithin = probe.p99Ms <= limitMs && probe.refusedShare <= MOST_REFUSED;
    tried.push({ rate, ...probe, isWithin });
    return isWithin;
  }
  // A short slowdown of the machine is no saturation: a second bad probe is needed.
  const holds = async (rate: number): Promise<boolean> => (await once(rate)) || (await once(rate));

  let good = 0;
  let bad = Number.POSITIVE_INFINITY;
  let next = Math.min(options.from, most);
  while (tried.length < MOST_TRIES) {
    if (await holds(next)) good = next;
    else bad = next;
    if (good >= most) return { rate: good, isFound: false, tried };
    if (bad <= good * (1 + precision) || bad < 1) break;
    // Above what holds, below what does not; down from the start if that was already too much.
    if (bad === Number.POSITIVE_INFINITY) next = Math.min(most, good * STEP);
    else next = good === 0 ? bad / STEP : (good + bad) / 2;
  }
  return { rate: good, isFound: true, tried };
}
