/** Reads every process, Redis and the scheduler's own levels, again and again, and keeps the values. */
import { performance } from 'node:perf_hooks';
import type { Point } from '../judge/trend.ts';
import type { WatchedInstance } from '../rig/watched-instance.ts';
import { levelsOf } from './read-metrics.ts';
import type { RedisWatch } from './redis-figures.ts';
import {
  asMb,
  isBytes,
  keysOf,
  levelOf,
  PROCESS_SERIES,
  type ProcessSeries,
  REDIS_SERIES,
  type Series,
  type SeriesKind,
} from './series.ts';

export interface Seen {
  readonly group: string;
  readonly name: string;
  readonly kind: SeriesKind;
  readonly value: number;
}

export interface Sampler {
  /** `isThorough`: garbage is collected first, and keys are counted by kind. */
  look(isThorough: boolean): Promise<Seen[]>;
}

export const REDIS = 'Redis';
export const KEYS = 'Redis, keys by kind';
export const LEVELS = 'Levels, all instances';

export function createSampler(parts: {
  readonly instances: readonly WatchedInstance[];
  readonly redis: RedisWatch | undefined;
}): Sampler {
  const { instances, redis } = parts;

  async function processOf(instance: WatchedInstance, isThorough: boolean): Promise<Seen[]> {
    const { name: group } = instance;
    const seen = await instance.look({ collects: isThorough });
    const values: Readonly<Record<ProcessSeries, number | undefined>> = {
      'live heap without code': seen.heapLive === undefined ? undefined : asMb(seen.heapLive),
      'heap used': asMb(seen.heapUsed),
      'resident memory': asMb(seen.rss),
      'external memory': asMb(seen.external),
      'array buffers': asMb(seen.arrayBuffers),
      'open files and sockets': instance.openFiles(),
      handles: seen.handles,
      timers: seen.timers,
      'event loop delay, p99': seen.loopP99Ms,
      'longest GC pause': seen.gcMaxMs,
    };
    return Object.entries(values).flatMap(([name, value]) =>
      value === undefined ? [] : [{ group, name, kind: PROCESS_SERIES[name as ProcessSeries], value }],
    );
  }

  async function levels(): Promise<Seen[]> {
    const sums = new Map<string, number>();
    for (const text of await Promise.all(instances.map((instance) => instance.metrics()))) {
      for (const [name, value] of levelsOf(text)) sums.set(name, (sums.get(name) ?? 0) + value);
    }
    return [...sums].map(([name, value]) => ({
      group: LEVELS,
      name,
      kind: levelOf(name),
      value: isBytes(name) ? asMb(value) : value,
    }));
  }

  async function ofRedis(watch: RedisWatch, isThorough: boolean): Promise<Seen[]> {
    const { keys, memoryBytes } = await watch.figures();
    const named = (name: keyof typeof REDIS_SERIES, value: number): Seen => ({
      group: REDIS,
      name,
      kind: REDIS_SERIES[name],
      value,
    });
    const always = [named('keys', keys), named('memory', asMb(memoryBytes))];
    if (!isThorough) return always;
    const { kinds, entries } = await watch.census();
    return [
      ...always,
      named('messages in inboxes', entries.get('inbox') ?? 0),
      named('dead letters', entries.get('deadLetters') ?? 0),
      ...[...kinds].map(([name, value]) => ({ group: KEYS, name, kind: keysOf(name), value })),
    ];
  }

  return {
    async look(isThorough) {
      const parts = await Promise.all([
        ...instances.map((instance) => processOf(instance, isThorough)),
        redis === undefined ? [] : ofRedis(redis, isThorough),
        levels(),
      ]);
      return parts.flat();
    },
  };
}

export interface Album {
  add(seen: readonly Seen[], isThorough: boolean): void;
  samples(): number;
  series(): Series[];
}

/** The values, by series. A kind of key that is missing in a count of all kinds is not unknown, there is none. */
export function createAlbum(startedAt: number): Album {
  const all = new Map<string, Omit<Series, 'points'> & { readonly points: Point[] }>();
  let samples = 0;
  /** When kinds were counted: a kind that comes later had the value 0 till then. */
  const censuses: number[] = [];

  return {
    add(seen, isThorough) {
      const at = (performance.now() - startedAt) / 1_000;
      samples += 1;
      const missing = new Set(
        isThorough ? [...all].filter(([, { group }]) => group === KEYS).map(([key]) => key) : [],
      );
      for (const { group, name, kind, value } of seen) {
        const key = `${group}\n${name}`;
        missing.delete(key);
        const found = all.get(key);
        if (found !== undefined) {
          found.points.push({ at, value });
          continue;
        }
        const before = group === KEYS ? censuses.map((then) => ({ at: then, value: 0 })) : [];
        all.set(key, { ...kind, group, name, points: [...before, { at, value }] });
      }
      for (const key of missing) all.get(key)?.points.push({ at, value: 0 });
      if (isThorough) censuses.push(at);
    },
    samples: () => samples,
    series: () => [...all.values()],
  };
}
