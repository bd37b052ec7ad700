/** The inbox and the mailbox obey their contracts with sealing on, on one Redis. Their contracts wait in real time. */
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe } from 'vitest';
import { createCapacityLedger } from '../../src/adapters/redis/capacity-ledger.ts';
import { createInbox } from '../../src/adapters/redis/inbox.ts';
import { createNodeMailbox } from '../../src/adapters/redis/node-mailbox.ts';
import { createSealedPayload } from '../../src/adapters/redis/sealed-payload.ts';
import { systemClock as clock } from '../../src/adapters/system/clock.ts';
import { type Connected, connectTo, freshKeys, realTime } from '../support/redis-jobs.ts';
import { startRedis } from '../support/redis-servers.ts';
import { inboxContract } from './inbox.ts';
import { type InboxMessage, nodeMailboxContract } from './node-mailbox.ts';

describe('with sealed texts', () => {
  let redis: Connected;
  const payload = createSealedPayload([{ id: 'k1', secret: randomBytes(32) }]);
  const timed = { ...realTime, close: async () => undefined };

  beforeAll(async () => {
    redis = await connectTo(startRedis());
  }, 60_000);
  afterAll(() => redis.close());

  inboxContract('sealed', async (limits) => ({
    ...timed,
    inbox: createInbox({
      connection: redis.connection,
      blocking: () => redis.other.connection,
      keys: freshKeys(),
      payload,
      group: 'scheduler',
      ...limits,
    }),
  }));

  nodeMailboxContract('sealed', async (limits) => {
    const [keys, { connection, subscriber }] = [freshKeys(), redis];
    return {
      ...timed,
      ledger: createCapacityLedger({ connection, keys }),
      mailbox: createNodeMailbox<InboxMessage>({ connection, subscriber, keys, clock, payload, ...limits }),
    };
  });
});
