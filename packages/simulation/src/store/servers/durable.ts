/**
 * Simulation: connections whose writes count only when a replica has them. A write that no replica confirms in time is *unknown*, as
 * after any fault.
 */
import type { Clock } from '../../../../scheduler/dist/ports/clock.js';
import { storeDown } from './line.ts';
import type { Lines } from './lines.ts';

export function withReplica(lines: Lines, clock: Clock, waitMs: number): Lines {
  return {
    ...lines,
    async ask(tag, what, run) {
      const { reply, isConfirmed } = await lines.ask(tag, what, (shard) => ({
        reply: run(shard),
        isConfirmed: shard.isReplicating,
      }));
      if (isConfirmed) return reply;
      await new Promise<void>((resolve) => clock.after(waitMs, resolve));
      throw storeDown(what, 'no replica confirmed it');
    },
  };
}
