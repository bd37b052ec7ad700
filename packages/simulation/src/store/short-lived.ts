/** Simulation: single values that expire: locks, figures and statistics of instances. Cold path. */
import type { Figures, InstanceFigures } from '../../../scheduler/dist/ports/instance-figures.js';
import type { Locks } from '../../../scheduler/dist/ports/locks.js';
import type { StatsStore } from '../../../scheduler/dist/ports/stats-store.js';
import type { Lines } from './servers/lines.ts';
import { keys, tags } from './servers/tags.ts';

export function createLocks({ lines, space }: { lines: Lines; space: string }): Locks {
  return {
    take(name, ttlMs) {
      const key = keys.lock(`${space}:${name}`);
      return lines.ask(tags.key(key), 'take-lock', ({ state, now }) => {
        if (state.values.get(key, now()) !== undefined) return false;
        state.values.put(key, true, now() + Math.ceil(ttlMs));
        return true;
      });
    },
  };
}

/** Values of an instance lie on the shard of the instance. */
function valuesOf<T>(lines: Lines, kind: string) {
  return {
    write: (instanceId: string, value: T, ttlMs: number): Promise<void> =>
      lines.ask(tags.instance(instanceId), `write-${kind}`, ({ state, now }) =>
        state.values.put(`${kind}:${instanceId}`, value, now() + ttlMs),
      ),
    read: (instanceId: string): Promise<T | undefined> =>
      lines.ask(
        tags.instance(instanceId),
        `read-${kind}`,
        ({ state, now }) => state.values.get(`${kind}:${instanceId}`, now()) as T | undefined,
      ),
  };
}

export const createInstanceFigures = ({ lines }: { lines: Lines }): InstanceFigures =>
  valuesOf<Figures>(lines, 'figures');

export function createStatsStore({ lines }: { lines: Lines }): StatsStore {
  const key = keys.snapshot;
  const tag = tags.key(key);
  return {
    ...valuesOf<string>(lines, 'stats'),
    publish: (text, ttlMs) =>
      lines.ask(tag, 'publish-stats', ({ state, now }) => state.values.put(key, text, now() + ttlMs)),
    latest: () =>
      lines.ask(tag, 'read-snapshot', ({ state, now }) => {
        const text = state.values.get(key, now()) as string | undefined;
        return text === undefined ? undefined : { text, leftMs: state.values.until(key, now()) - now() };
      }),
  };
}
