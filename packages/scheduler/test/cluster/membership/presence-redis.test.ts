/** Presence on a real Redis: emptied, frozen for longer than a TTL, and cut off from one instance only. */
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
    const received = { lost: 0, reincarnated: 0, emptied: 0, died: [] as string[] };
    let incarnations = 1;
    const presence = createPresence({
      instances: createInstances({ connection, keys }),
      clock: systemClock,
      log: QUIET,
      settings: SETTINGS,
      events: {
        lost: () => {
          received.lost += 1;
        },
        reincarnated: () => {
          received.reincarnated += 1;
        },
        emptied: () => {
          received.emptied += 1;
        },
        died: (ids) => void received.died.push(...ids),
      },
      first: about(instanceId),
      newIncarnation: () => `${instanceId}-${++incarnations}`,
    });
    closing.push(() => connection.disconnect());
    closing.push(() => presence.stop());
    expect(await presence.start()).toBe('started');
    return { connection, presence, received };
  }

  it('survives faults of Redis and ends when one instance is cut off', async () => {
    const [a, b] = [await join('a'), await join('b')];

    await a.connection.flushall();
    await eventually(() => a.received.emptied === 1 && b.received.emptied === 1);
    await eventually(async () => (await a.presence.living()).size === 2);

    const [server] = redis.servers as [RedisServer];
    server.signal('SIGSTOP');
    await eventually(() => a.presence.isFenced() && b.presence.isFenced());
    server.signal('SIGCONT');
    await eventually(() => !a.presence.isFenced() && !b.presence.isFenced());
    for (const { received, presence } of [a, b]) {
      expect(received).toMatchObject({ lost: 0, died: [] });
      expect(presence.self().incarnation).toMatch(/-1$/);
    }

    b.connection.disconnect();
    await eventually(() => a.received.died.includes('b'));
    expect(b.presence.isFenced()).toBe(true);
    expect(b.received.lost).toBe(0);
    await b.connection.connect();
    await eventually(() => b.received.lost === 1 && !b.presence.isFenced());
    expect(b.presence.self().incarnation).toBe('b-2');
    expect(a.received.died).not.toContain('a');
  });
});
