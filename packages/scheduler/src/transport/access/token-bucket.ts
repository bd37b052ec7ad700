/** Hot path: a budget that refills steadily up to a burst. Time is an argument. */

export interface BucketShape {
  readonly perSecond: number;
  readonly burst: number;
}

export interface TokenBucket {
  /** Takes one token and returns 0, or returns the milliseconds until one is available. */
  take(now: number): number;
  /** Returns a token that was taken for a request that another budget refused. */
  refund(): void;
  /** Unused for so long that a new bucket would be equal. */
  isFull(now: number): boolean;
}

export function createTokenBucket({ perSecond, burst }: BucketShape, startedAt: number): TokenBucket {
  const perMs = perSecond / 1_000;
  let level = burst;
  let filledAt = startedAt;

  function fill(now: number): void {
    // When the clock was set back, refilling must not stop until it has caught up.
    const elapsed = Math.max(0, now - filledAt);
    filledAt = now;
    level = Math.min(burst, level + elapsed * perMs);
  }

  return {
    take(now) {
      fill(now);
      if (level >= 1) {
        level -= 1;
        return 0;
      }
      return Math.max(1, Math.ceil((1 - level) / perMs));
    },
    refund() {
      level = Math.min(burst, level + 1);
    },
    isFull(now) {
      fill(now);
      return level >= burst;
    },
  };
}
