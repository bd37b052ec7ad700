/** What outlasts a request — sockets, long polls, event streams — ends when its credential expires or is revoked. */
import type { Clock } from '../../ports/clock.ts';
import type { LostRights, Principal } from './gate.ts';

export interface HeldPeers {
  hold(principal: Principal, end: (why: LostRights) => void): () => void;
  /** Ends those whose credential is no longer current; returns how many. */
  recheck(): number;
}

/** `graceMs`: how long an expired token is still accepted, because clocks differ. */
export function createHeldPeers(deps: {
  readonly clock: Clock;
  readonly isCurrent: (principal: Principal) => boolean;
  readonly graceMs: number;
}): HeldPeers {
  const { clock, isCurrent, graceMs } = deps;
  const held = new Set<{ readonly principal: Principal; readonly end: (why: LostRights) => void }>();

  /** A token that is used in its grace ends with it. */
  function untilExpiry(expiresAt: number): number {
    const leftMs = expiresAt - clock.now();
    return leftMs > 0 ? leftMs : Math.max(0, leftMs + graceMs);
  }

  return {
    hold(principal, end) {
      // A reload may have come between the check of the token and this call.
      if (!isCurrent(principal)) {
        end('revoked');
        return () => {};
      }
      const entry = { principal, end };
      held.add(entry);
      const { expiresAt } = principal;
      const cancelExpiry =
        expiresAt === undefined ? undefined : clock.after(untilExpiry(expiresAt), () => stop('expired'));
      function stop(why?: LostRights): void {
        cancelExpiry?.();
        if (held.delete(entry) && why !== undefined) end(why);
      }
      return () => stop();
    },

    recheck() {
      const lost = [...held].filter(({ principal }) => !isCurrent(principal));
      for (const entry of lost) if (held.delete(entry)) entry.end('revoked');
      return lost.length;
    },
  };
}
