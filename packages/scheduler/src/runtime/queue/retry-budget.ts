/** Hot path: limits retries to a share of admissions, so that retries do not overload a failing fleet. */

export interface RetryBudget {
  /** A job was admitted: adds a fraction of a retry. */
  earn(): void;
  /** Takes one retry, if there is one. */
  take(): boolean;
}

/**
 * `burst`: how many retries are allowed at once after a quiet time, for instance when the largest node dies. `first`: how many at the start;
 * absent: as many.
 */
export function createRetryBudget(settings: { percent: number; burst: number; first?: number }): RetryBudget {
  let tokens = settings.first ?? settings.burst;
  return {
    earn() {
      tokens = Math.min(settings.burst, tokens + settings.percent / 100);
    },
    take() {
      if (tokens < 1) return false;
      tokens -= 1;
      return true;
    },
  };
}
