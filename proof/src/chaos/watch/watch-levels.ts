/**
 * Reads about once a second from every instance and from Redis how much they hold, and records it with the limits (I11, and I2 at
 * rest).
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Config } from '../../../../packages/scheduler/dist/config/settings.js';
import type { Recorder } from '../../../../packages/simulation/dist/history.js';
import type { LeftKey } from '../../checker/leftovers.ts';
import { OPERATOR_TOKEN } from '../tenants.ts';
import type { Backend } from '../wire/balancer.ts';
import { call } from '../wire/call.ts';
import { type Level, levelsIn } from './levels.ts';
import { type StoredKey, storedLevels, streamLevels } from './stored-levels.ts';

export interface LevelWatch {
  /**
   * Ends the watch with a last check: resolves when no instance has anything left that must be gone at rest, or when it does not go
   * away.
   */
  settle(): Promise<void>;
  /** What was found in the store at the end. */
  noteKeys(keys: readonly LeftKey[]): void;
  stop(): Promise<void>;
}

const EVERY_MS = 1_000;
/** An instance that does not answer within this time is unreachable. */
const ANSWER_MS = 900;
/** Everything left without an owner expires with the deadline of its job. */
const SETTLED_WITHIN_MS = 22_000;

export function watchLevels(options: {
  readonly recorder: Recorder;
  readonly config: Config;
  /** Waits at the end for what comes to rest only after a while. */
  readonly isPatient: boolean;
  readonly backends: () => readonly Backend[];
  /** Absent: there is no store. */
  readonly streams?: (() => Promise<readonly StoredKey[]>) | undefined;
}): LevelWatch {
  const { recorder, config, backends, streams } = options;
  let isWatching = true;

  const note = (instance: string, levels: readonly Level[]): void => {
    for (const level of levels) recorder.record({ kind: 'sampled', instance, ...level });
  };

  /** Undefined: it does not answer, or not with its levels. */
  async function look({ instance, port }: Backend): Promise<Level[] | undefined> {
    const { status, body } = await call<string>(port, 'GET', '/metrics', {
      token: OPERATOR_TOKEN,
      timeoutMs: ANSWER_MS,
    }).catch(() => NONE);
    if (status !== 200) return undefined;
    const levels = levelsIn(body, config, options.isPatient);
    note(instance, levels);
    return levels;
  }

  async function lookAtStreams(read: () => Promise<readonly StoredKey[]>): Promise<void> {
    // A server that hangs reports nothing.
    const keys = await read().catch(() => undefined);
    if (keys !== undefined) note('store', streamLevels(keys, config));
  }

  /** Reads do not wait for another one that hangs. */
  async function again(once: () => Promise<unknown>): Promise<void> {
    while (isWatching) {
      const next = sleep(EVERY_MS);
      await once();
      await next;
    }
  }

  const watching = [
    ...backends().map((_, place) => again(() => look(backends()[place] as Backend))),
    ...(streams === undefined ? [] : [again(() => lookAtStreams(streams))]),
  ];

  async function stop(): Promise<void> {
    isWatching = false;
    await Promise.all(watching);
  }

  return {
    async settle() {
      await stop();
      for (const until = recorder.now() + SETTLED_WITHIN_MS; ; await sleep(EVERY_MS)) {
        const all = backends();
        const seen = await Promise.all(all.map(look));
        const isAtRest = seen.every((levels) => levels?.every(rests) === true);
        if (isAtRest) return;
        if (recorder.now() < until) continue;
        const silent = all.filter((_, at) => seen[at] === undefined).map(({ instance }) => instance);
        if (silent.length === 0) return;
        throw new Error(`${silent.join(', ')} did not report any levels at rest`);
      }
    },
    noteKeys: (keys) => note('store', storedLevels(keys, config, backends().length)),
    stop,
  };
}

const NONE = { status: 0, body: '' };

const rests = ({ value, atRest }: Level): boolean => atRest === undefined || value <= atRest;
