/** Hot path: whether the store has answered for long enough that a missing report is the node's fault, not the store's. */
import type { Clock } from '../../ports/clock.ts';

export interface StoreSteadiness {
  isSteady(): boolean;
  /** `isWell`: all of the store answered when last asked. */
  watch(isWell: () => boolean): void;
  /** The whole store answers again after an outage. */
  returned(): void;
}

/** `recoveryMs`: how long after an outage reports may still be missing because of it. */
export function createStoreSteadiness(deps: { clock: Clock; recoveryMs: number }): StoreSteadiness {
  const { clock, recoveryMs } = deps;
  let returnedAt = Number.NEGATIVE_INFINITY;
  let isWell = (): boolean => true;
  return {
    isSteady: () => isWell() && clock.now() - returnedAt > recoveryMs,
    watch(how) {
      isWell = how;
    },
    returned() {
      returnedAt = clock.now();
    },
  };
}
