/** How many messages one connection may send, and when its excess counts as abuse. */
import type { Clock } from '../../ports/clock.ts';

/** `limited`: the first of a run over the rate; the peer is told once. */
export type Allowance = 'allowed' | 'limited' | 'dropped' | 'abused';

/** A run of excess ends when none was dropped for this long. */
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
