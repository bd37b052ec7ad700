/** Simulation: connections without a network. Every command happens at once and is answered in the same turn; nothing is lost. */
import type { Lines } from './lines.ts';
import type { Shard } from './shard.ts';

export function createDirectLines(shard: Shard): Lines {
  const ends = new Set<() => void>();
  return {
    all: [],
    lineOf() {
      throw new Error('direct connections have no line that could fail');
    },
    ask: async (_, __, run) => run(shard),
    read: (_, __, ___, begin) => new Promise((resolve) => begin(shard, resolve, () => false)),
    replaceReader() {},
    publish: (_, channel, said) => shard.publish(channel, said),
    async subscribe(_, channel, hear) {
      let isStopped = false;
      const unsubscribe = shard.subscribe(channel, (said) =>
        queueMicrotask(() => {
          if (!isStopped) hear(said);
        }),
      );
      const stop = (): void => {
        isStopped = true;
        ends.delete(stop);
        unsubscribe();
      };
      ends.add(stop);
      return stop;
    },
    drainCounts: () => [],
    close() {
      for (const end of [...ends]) end();
    },
  };
}
