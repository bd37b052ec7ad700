/** Adapters that seal texts obey their contracts with sealing on, on one Redis. Those whose contracts wait are in redis-sealed-waits.slow.test.ts. */
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe } from 'vitest';
import { createDeadLetters } from '../../src/adapters/redis/dead-letters.ts';
import { createGlossaryStore } from '../../src/adapters/redis/glossary-store.ts';
import { createHintBus } from '../../src/adapters/redis/hint-bus.ts';
import { createInbox } from '../../src/adapters/redis/inbox.ts';
import { createSealedPayload } from '../../src/adapters/redis/sealed-payload.ts';
import { createSessionStore } from '../../src/adapters/redis/session-store.ts';
import { type Connected, connectTo, freshKeys, openInstance, realTime } from '../support/redis-jobs.ts';
import { startRedis } from '../support/redis-servers.ts';
import { deadLettersContract } from './dead-letters.ts';
import { glossaryStoreContract } from './glossary-store.ts';
import { hintBusContract } from './hint-bus.ts';
import { jobStoreContract } from './job-store.ts';
import { sessionStoreContract } from './session-store.ts';

describe('with sealed texts', () => {
  let redis: Connected;
  const payload = createSealedPayload([{ id: 'k1', secret: randomBytes(32) }]);
  const timed = { ...realTime, close: async () => undefined };

  beforeAll(async () => {
    redis = await connectTo(startRedis());
  }, 60_000);
  afterAll(() => redis.close());

  jobStoreContract('sealed', async (limits) => {
    const { store, close } = openInstance(redis, freshKeys(), 'instance-a', { ...limits, payload });
    return { ...realTime, store, close };
  });

  sessionStoreContract('sealed', async () => ({
    ...timed,
    store: createSessionStore({ connection: redis.connection, keys: freshKeys(), payload }),
  }));

  deadLettersContract('sealed', async (limits) => {
    const { connection } = redis;
    const shared = { connection, keys: freshKeys(), payload, ...limits };
    const inbox = createInbox({ ...shared, blocking: () => connection, group: 'scheduler' });
    return { ...timed, inbox, deadLetters: createDeadLetters({ ...shared, inbox }) };
  });

  glossaryStoreContract('sealed', async () => ({
    store: createGlossaryStore({ connection: redis.connection, keys: freshKeys(), payload }),
    close: timed.close,
  }));

  hintBusContract('sealed', async () => ({
    hintBus: createHintBus({ ...redis, keys: freshKeys(), payload }),
    close: timed.close,
  }));
});
