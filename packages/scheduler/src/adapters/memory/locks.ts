/** Locks of one process, with expiry: the readable specification of those on Redis. Cold path. */
import type { Clock } from '../../ports/clock.ts';
import type { Locks } from '../../ports/locks.ts';

/** Expired locks are removed only after so many were added, so that the cost of taking one is constant. */
const SWEEP_AFTER = 256;

export function createLocks(deps: { clock: Clock }): Locks {
  const heldUntil = new Map<string, number>();
  let taken = 0;

  function sweep(now: number): void {
    taken = 0;
    for (const [name, until] of heldUntil) if (until <= now) heldUntil.delete(name);
  }

  return {
    async take(name, ttlMs) {
      const now = deps.clock.now();
      if ((heldUntil.get(name) ?? 0) > now) return false;
      if (taken >= SWEEP_AFTER) sweep(now);
      heldUntil.set(name, now + ttlMs);
      taken += 1;
      return true;
    },
  };
}
