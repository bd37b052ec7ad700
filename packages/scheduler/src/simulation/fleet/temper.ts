/** Simulation: how a node treats its next job. Most are honest and quick; every fleet has others. */
import type { Chance } from '../../ports/chance.ts';

export interface Manner {
  readonly workMs: number;
  /** It fails, and says so. */
  readonly isClumsy: boolean;
  /** `silent`: takes the job and never says a word. `late`: acknowledges when others have lost patience. */
  readonly acknowledges: 'soon' | 'late' | 'silent';
  /** Says the result twice. */
  readonly isRepeated: boolean;
  /** Says the result of an earlier job once more, as if it were of a later attempt. */
  readonly isLying: boolean;
  readonly lacksModel: boolean;
}

export type Temper = () => Manner;

const HONEST: Omit<Manner, 'workMs'> = {
  isClumsy: false,
  acknowledges: 'soon',
  isRepeated: false,
  isLying: false,
  lacksModel: false,
};

/** Milliseconds of work: half of the jobs below the median, one in fifty above ten times of it. */
const MEDIAN_MS = 250;
const SPREAD = 0.9;

export function lognormal(chance: Chance, median: number, spread: number): number {
  const radius = Math.sqrt(-2 * Math.log(1 - chance()));
  return median * Math.exp(spread * radius * Math.cos(2 * Math.PI * chance()));
}

/** `badness`: how likely each bad habit is. */
export function createTemper(chance: Chance, badness: number): Temper {
  return () => {
    const workMs = Math.min(8_000, lognormal(chance, MEDIAN_MS, SPREAD));
    const luck = chance() / Math.max(badness, Number.MIN_VALUE);
    if (luck >= 6) return { ...HONEST, workMs };
    return {
      workMs,
      isClumsy: luck < 1,
      acknowledges: luck >= 1 && luck < 2 ? 'late' : luck >= 2 && luck < 3 ? 'silent' : 'soon',
      isRepeated: luck >= 3 && luck < 4,
      isLying: luck >= 4 && luck < 5,
      lacksModel: luck >= 5,
    };
  };
}
