/** Simulation: all connections of one process to the store: one to each shard, one that reads messages, and an ear for what is said. */

import type { Machine } from '../../../../scheduler/dist/plan/kernel/machine.js';
import type { VirtualTime } from '../../../../scheduler/dist/plan/kernel/virtual-time.js';
import type { Chance } from '../../../../scheduler/dist/ports/chance.js';
import { createLine, type Line, storeDown } from './line.ts';
import type { Shard } from './shard.ts';
import { shardOf, type Tag } from './tags.ts';

/** What may happen to words that may be lost: chances, and how late the late ones are. */
export interface Rumours {
  lost: number;
  doubled: number;
  late: number;
  lateMs: number;
}

export interface Lines {
  readonly all: readonly Line[];
  lineOf(tag: Tag): Line;
  ask<T>(tag: Tag, what: string, run: (shard: Shard) => T): Promise<T>;
  /** A read that waits there, on a connection of its own. `isGone`: the reader is gone. */
  read<T>(
    tag: Tag,
    what: string,
    waitMs: number,
    begin: (shard: Shard, answer: (reply: T) => void, isGone: () => boolean) => void,
  ): Promise<T>;
  /** Everything that waits on the reading connection fails; the next read has a new one. */
  replaceReader(): void;
  /** Channels live where their tag does. */
  publish(tag: Tag, channel: string, said: unknown): void;
  /** Resolves, once subscribed, to a function that unsubscribes. */
  subscribe(tag: Tag, channel: string, hear: (said: unknown) => void): Promise<() => void>;
  /** How much was asked since the last look. */
  drainCounts(): readonly { readonly op: string; readonly result: 'ok' | 'err'; readonly count: number }[];
  close(): void;
}

export function createLines(deps: {
  time: VirtualTime;
  chance: Chance;
  machine: Machine;
  shards: readonly Shard[];
  delay: () => number;
  commandTimeoutMs: number;
  rumours: Readonly<Rumours>;
}): Lines {
  const { time, chance, machine, shards, delay, rumours } = deps;
  const all = shards.map((shard) => createLine({ ...deps, shard }));
  let asked = 0;
  const reads = new Set<{ readonly shard: Shard; fail(why: string): void }>();
  const ends = new Set<() => void>();
  let reader = 0;

  const lineOf = (tag: Tag): Line => all[shardOf(tag, all.length)] as Line;

  function ask<T>(tag: Tag, what: string, run: (shard: Shard) => T): Promise<T> {
    asked += 1;
    return lineOf(tag).ask(what, run);
  }

  for (const shard of shards) {
    const stop = shard.onCut(() => {
      if (!machine.isAlive()) stop();
      time.at(time.now() + delay(), () =>
        machine.deliver(() => {
          for (const read of [...reads]) if (read.shard === shard) read.fail('the connection is closed');
        }),
      );
    });
    ends.add(stop);
  }

  return {
    all,
    lineOf,
    ask,

    read(tag, what, waitMs, begin) {
      asked += 1;
      const line = lineOf(tag);
      const { shard } = line;
      if (!line.isCut && (shard.isAway || line.master !== shard.master)) {
        return Promise.reject(storeDown(what, 'no server is there'));
      }
      return new Promise((resolve, reject) => {
        const own = reader;
        const cancel = machine.clock.after(waitMs + deps.commandTimeoutMs, () => read.fail('timed out'));
        const read = {
          shard,
          fail(why: string): void {
            if (!end()) return;
            reject(storeDown(what, why));
          },
        };
        const end = (): boolean => {
          cancel();
          return reads.delete(read);
        };
        reads.add(read);
        const answer = (reply: Parameters<typeof resolve>[0]): void => {
          time.at(time.now() + delay(), () =>
            line.cross(() =>
              machine.deliver(() => {
                if (end()) resolve(reply);
              }),
            ),
          );
        };
        const isGone = (): boolean => !machine.isAlive() || own !== reader;
        time.at(time.now() + delay(), () =>
          line.cross(() => shard.reach(() => begin(shard, answer, isGone))),
        );
      });
    },

    replaceReader() {
      reader += 1;
      for (const read of [...reads]) read.fail('the connection was replaced');
    },

    publish(tag, channel, said) {
      // A subscriber that cannot be reached misses the message.
      ask(tag, 'publish', (shard) => shard.publish(channel, said)).catch(() => undefined);
    },

    async subscribe(tag, channel, hear) {
      const line = lineOf(tag);
      const { shard } = line;
      let isStopped = false;
      let lastHeardAt = 0;
      let unsubscribe = (): void => undefined;

      function carry(said: unknown): void {
        const isLate = chance() < rumours.late;
        const at = time.now() + delay() + (isLate ? chance() * rumours.lateMs : 0);
        if (!isLate) lastHeardAt = Math.max(lastHeardAt, at);
        time.at(isLate ? at : lastHeardAt, () =>
          machine.deliver(() => {
            if (!isStopped) hear(said);
          }),
        );
      }

      const stop = (): void => {
        isStopped = true;
        ends.delete(stop);
        unsubscribe();
      };
      ends.add(stop);
      const subscribing = ask(tag, 'subscribe', () => {
        unsubscribe = shard.subscribe(channel, (said) => {
          if (isStopped || !machine.isAlive()) {
            unsubscribe();
            return;
          }
          // Deaf until it is connected again.
          if (line.isCut || line.master !== shard.master) return;
          const copies = chance() < rumours.doubled ? 2 : 1;
          for (let copy = 0; copy < copies; copy += 1) if (chance() >= rumours.lost) carry(said);
        });
      });
      try {
        await subscribing;
      } catch (fault) {
        stop();
        throw fault;
      }
      return stop;
    },

    drainCounts() {
      const count = asked;
      asked = 0;
      return count === 0 ? [] : [{ op: 'call', result: 'ok', count }];
    },

    close() {
      for (const line of all) line.close();
      for (const end of [...ends]) end();
      for (const read of [...reads]) read.fail('closed');
    },
  };
}
