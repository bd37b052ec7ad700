/** Hot path: keeps retries to a share of admissions, so that a failing fleet is not also a flooded one. */

export interface RetryBudget {
  /** A job was admitted: earns a part of a retry. */
  earn(): void;
  /** Takes one retry, if there is one. */
  take(): boolean;
}

/** `burst` is what a quiet scheduler may spend at once, for instance when its largest node dies. */
export function createRetryBudget(settings: { percent: number; burst: number }): RetryBudget {
  let tokens = settings.burst;
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
