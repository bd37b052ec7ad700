/**
 * Simulation: how a process notices that a shard may have lost writes, because another server serves it or a part of it, and that
 * all shards answer again.
 */

import type { StoreWatch } from '../../../../scheduler/dist/app/shared-store.js';
import type { Clock } from '../../../../scheduler/dist/ports/clock.js';
import type { Line } from './line.ts';

const LOOK_MS = 250;
const ASK_MS = 1_000;

export interface MasterEvents {
  /** Recent writes of the shard may be lost. */
  changed(shard: number): void;
  /** A part of the store did not answer for a while, and now all of it does. */
  returned(): void;
}

export interface MastersWatch extends StoreWatch {
  /** Checks at once, as a process does that has just found another master. */
  look(): void;
}

export function watchMasters(
  deps: { lines: readonly Line[]; clock: Clock },
  events: MasterEvents,
): MastersWatch {
  const { lines, clock } = deps;
  const met = lines.map(({ master, shard }) => ({ master, moves: shard.moves, askedAt: clock.now() }));
  const silent = new Set<Line>();
  const asking = new Set<Line>();
  let wasAway = false;
  let isClosed = false;
  let cancel = (): void => undefined;

  function meet(line: Line): void {
    const known = met[line.shard.index];
    const { moves } = line.shard;
    if (known === undefined || (known.master === line.master && known.moves === moves)) return;
    Object.assign(known, { master: line.master, moves });
    events.changed(line.shard.index);
  }

  async function ask(line: Line): Promise<void> {
    asking.add(line);
    try {
      await line.ask('info', () => undefined);
      const known = met[line.shard.index];
      if (known !== undefined) known.askedAt = clock.now();
      silent.delete(line);
      if (!isClosed) meet(line);
    } catch {
      silent.add(line);
    } finally {
      asking.delete(line);
    }
  }

  function look(): void {
    for (const line of lines) {
      if (line.isSilent()) {
        silent.add(line);
        continue;
      }
      meet(line);
      const isDue = clock.now() - (met[line.shard.index]?.askedAt ?? 0) >= ASK_MS;
      if ((isDue || silent.has(line)) && !asking.has(line)) void ask(line);
    }
    if (silent.size > 0) wasAway = true;
    else if (wasAway && asking.size === 0) {
      wasAway = false;
      events.returned();
    }
  }

  function lookAgain(): void {
    look();
    if (!isClosed) cancel = clock.after(LOOK_MS, lookAgain);
  }

  cancel = clock.after(LOOK_MS, lookAgain);
  return {
    look() {
      if (!isClosed) look();
    },
    isWell: () => !wasAway,
    close() {
      isClosed = true;
      cancel();
    },
  };
}
