/** Simulation: how a node treats its next job. Most are honest and quick; every fleet has others. */
import type { Chance } from '../../../scheduler/dist/ports/chance.js';

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

/** Half of the jobs take less than the median, one in two hundred more than ten times as long. */
const SPREAD = 0.9;
const [LONGEST_TIMES, LONGEST_MS] = [32, 20_000];

export function lognormal(chance: Chance, median: number, spread: number): number {
  const radius = Math.sqrt(-2 * Math.log(1 - chance()));
  return median * Math.exp(spread * radius * Math.cos(2 * Math.PI * chance()));
}

/** `badness`: how likely each bad habit is. `medianMs`: of the work. */
export function createTemper(chance: Chance, badness: number, medianMs: number): Temper {
  return () => {
    const workMs = Math.min(LONGEST_MS, LONGEST_TIMES * medianMs, lognormal(chance, medianMs, SPREAD));
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
