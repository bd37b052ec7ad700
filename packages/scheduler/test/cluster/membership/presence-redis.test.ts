/** Presence on a real Redis: emptied, frozen for longer than a life, and cut off from one instance alone. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connectRedis, whenReady } from '../../../src/adapters/redis/connection/redis-connection.ts';
import { createInstances } from '../../../src/adapters/redis/instances.ts';
import { createKeys } from '../../../src/adapters/redis/keys.ts';
import { systemClock } from '../../../src/adapters/system/clock.ts';
import { createPresence } from '../../../src/cluster/membership/presence.ts';
import { eventually } from '../../support/eventually.ts';
import {
  type RedisServer,
  type RedisUnderTest,
  SHORT_TIMEOUTS,
  startRedis,
} from '../../support/redis-servers.ts';
import { about } from './presence-rig.ts';

const START_MS = 60_000;
const SETTINGS = { intervalMs: 500, ttlMs: 1_500, viewMs: 100 };
const QUIET = { debug() {}, info() {}, warn() {}, error() {} };

describe('presence on Redis', () => {
  let redis: RedisUnderTest;
  const closing: (() => unknown)[] = [];
  const keys = createKeys('presence');

  beforeAll(async () => {
    redis = await startRedis();
  }, START_MS);
  afterAll(async () => {
    for (const close of closing.splice(0).reverse()) await close();
    await redis.stop();
  });

  async function join(instanceId: string) {
    const connection = connectRedis({ ...redis.settings, ...SHORT_TIMEOUTS }, { name: instanceId });
    await whenReady(connection, START_MS);
    const heard = { lost: 0, reborn: 0, emptied: 0, died: [] as string[] };
    let incarnations = 1;
    const presence = createPresence({
      instances: createInstances({ connection, keys }),
      clock: systemClock,
      log: QUIET,
      settings: SETTINGS,
      events: {
        lost: () => {
          heard.lost += 1;
        },
        reborn: () => {
          heard.reborn += 1;
        },
        emptied: () => {
          heard.emptied += 1;
        },
        died: (ids) => void heard.died.push(...ids),
      },
      first: about(instanceId),
      newIncarnation: () => `${instanceId}-${++incarnations}`,
    });
    closing.push(() => connection.disconnect());
    closing.push(() => presence.stop());
    expect(await presence.start()).toBe('started');
    return { connection, presence, heard };
  }

  it('outlives what happens to the store, and ends when it is cut off alone', async () => {
    const [a, b] = [await join('a'), await join('b')];

    await a.connection.flushall();
    await eventually(() => a.heard.emptied === 1 && b.heard.emptied === 1);
    await eventually(async () => (await a.presence.living()).size === 2);

    const [server] = redis.servers as [RedisServer];
    server.signal('SIGSTOP');
    await eventually(() => a.presence.isFenced() && b.presence.isFenced());
    server.signal('SIGCONT');
    await eventually(() => !a.presence.isFenced() && !b.presence.isFenced());
    for (const { heard, presence } of [a, b]) {
      expect(heard).toMatchObject({ lost: 0, died: [] });
      expect(presence.self().incarnation).toMatch(/-1$/);
    }

    b.connection.disconnect();
    await eventually(() => a.heard.died.includes('b'));
    expect(b.presence.isFenced()).toBe(true);
    expect(b.heard.lost).toBe(0);
    await b.connection.connect();
    await eventually(() => b.heard.lost === 1 && !b.presence.isFenced());
    expect(b.presence.self().incarnation).toBe('b-2');
    expect(a.heard.died).not.toContain('a');
  });
});
