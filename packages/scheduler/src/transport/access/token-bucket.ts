/** Hot path: a budget that refills steadily and holds at most a burst. Time comes in as an argument. */

export interface BucketShape {
  readonly perSecond: number;
  readonly burst: number;
}

export interface TokenBucket {
  /** Takes one; answers 0, or after how many milliseconds there will be one. */
  take(now: number): number;
  /** Gives one back that was taken for nothing. */
  giveBack(): void;
  /** Nobody has used it for so long that forgetting it changes nothing. */
  isFull(now: number): boolean;
}

export function createTokenBucket({ perSecond, burst }: BucketShape, startedAt: number): TokenBucket {
  const perMs = perSecond / 1_000;
  let level = burst;
  let filledAt = startedAt;

  function fill(now: number): void {
    // A clock that was set back must not stop the refill until it has caught up.
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
    giveBack() {
      level = Math.min(burst, level + 1);
    },
    isFull(now) {
      fill(now);
      return level >= burst;
    },
  };
}
