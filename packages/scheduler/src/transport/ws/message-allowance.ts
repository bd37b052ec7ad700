/** Limits the messages of one connection, and decides when the excess is abuse. */
import type { Clock } from '../../ports/clock.ts';

/** `limited`: the first message over the rate; the peer receives one error for the whole excess. */
export type Allowance = 'allowed' | 'limited' | 'dropped' | 'abused';

/** The count of excess messages restarts after this long without one. */
const FORGIVEN_AFTER_MS = 1_000;

export function createMessageAllowance(deps: {
  clock: Clock;
  rate: { spend(): boolean };
  maxDropped: number;
}): () => Allowance {
  let dropped = 0;
  let droppedAt = 0;

  return () => {
    if (deps.rate.spend()) return 'allowed';
    const now = deps.clock.now();
    dropped = now - droppedAt > FORGIVEN_AFTER_MS ? 1 : dropped + 1;
    droppedAt = now;
    if (dropped > deps.maxDropped) return 'abused';
    return dropped === 1 ? 'limited' : 'dropped';
  };
}
