/** The glossary store obeys its contract on one Redis and on a Cluster. */
import { afterAll, beforeAll, describe } from 'vitest';
import { createGlossaryStore } from '../../src/adapters/redis/glossary-store.ts';
import { type Connected, connectTo, freshKeys } from '../support/redis-jobs.ts';
import { startCluster, startRedis } from '../support/redis-servers.ts';
import { glossaryStoreContract } from './glossary-store.ts';

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

  glossaryStoreContract(where, async () => ({
    store: createGlossaryStore({ connection: redis.connection, keys: freshKeys() }),
    close: async () => undefined,
  }));
});
