/** Simulation: how a node treats its next job. Most nodes are correct and quick; a few are not. */
import type { Chance } from '../../../scheduler/dist/ports/chance.js';

export interface Manner {
  readonly workMs: number;
  /** The job fails, and the node reports it. */
  readonly isClumsy: boolean;
  /** `silent`: receives the job and never reports anything. `late`: acknowledges after the driver has abandoned the attempt. */
  readonly acknowledges: 'soon' | 'late' | 'silent';
  /** Sends the result twice. */
  readonly isRepeated: boolean;
  /** Sends the result of an earlier job once more, as if it were of a later attempt. */
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
const [LONGEST_TIMES, LONGEST_MS] = [32, 55_000];

export function lognormal(chance: Chance, median: number, spread: number): number {
  const radius = Math.sqrt(-2 * Math.log(1 - chance()));
  return median * Math.exp(spread * radius * Math.cos(2 * Math.PI * chance()));
}

/** `badness`: the chance of each kind of misbehaviour. `medianMs`: of the work. */
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
