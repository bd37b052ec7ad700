/** The session store obeys its contract on one Redis and on a Cluster. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createSessionStore } from '../../src/adapters/redis/session-store.ts';
import { type Connected, connectTo, freshKeys, realTime } from '../support/redis-jobs.ts';
import { startCluster, startRedis } from '../support/redis-servers.ts';
import { sessionStoreContract } from './session-store.ts';

const START_MS = 60_000;

describe.each([
  ['one Redis', () => startRedis()],
  ['a Cluster', startCluster],
])('on %s', (where, startServers) => {
  let redis: Connected;

  beforeAll(async () => {
    redis = await connectTo(startServers());
  }, START_MS);
  afterAll(() => redis.close());

  sessionStoreContract(where, async () => ({
    ...realTime,
    store: createSessionStore({ connection: redis.connection, keys: freshKeys() }),
    close: async () => undefined,
  }));

  it('deletes both keys of an ended session, and they expire together', async () => {
    const keys = freshKeys();
    const store = createSessionStore({ connection: redis.connection, keys });
    const state = {
      sessionId: 's-1',
      revision: 1,
      tenantId: 't',
      resumeDigest: 'd',
      openedAt: 1,
      nextIndex: 0,
      lastSeq: -1,
      deliverySeq: 0,
      utterances: [],
      groups: [],
    };
    await store.save(state, 'a/1', 60_000);
    await store.take('s-1', 'b/1', 'a/1', 50_000);
    await store.touch([state], 'b/1', 40_000);
    for (const key of [keys.sessionOwner('s-1'), keys.sessionState('s-1')]) {
      const left = await redis.connection.pttl(key);
      expect(left).toBeGreaterThan(0);
      expect(left).toBeLessThanOrEqual(40_000);
    }
    await store.remove('s-1', 'b/1');
    expect(await redis.connection.exists(keys.sessionOwner('s-1'))).toBe(0);
    expect(await redis.connection.exists(keys.sessionState('s-1'))).toBe(0);
  });
});
