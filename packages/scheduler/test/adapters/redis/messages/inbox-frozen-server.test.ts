/** A server that freezes while the inbox is being read: the reader gets another connection, and no message is lost. */
import { afterEach, describe, expect, it } from 'vitest';
import { openBlockingConnection } from '../../../../src/adapters/redis/connection/blocking-connection.ts';
import {
  connectRedis,
  type RedisConnection,
  whenReady,
} from '../../../../src/adapters/redis/connection/redis-connection.ts';
import { slotOf } from '../../../../src/adapters/redis/connection/servers.ts';
import { createInbox } from '../../../../src/adapters/redis/inbox.ts';
import { createKeys } from '../../../../src/adapters/redis/keys.ts';
import { systemClock } from '../../../../src/adapters/system/clock.ts';
import { createInboxReader } from '../../../../src/cluster/messaging/inbox-reader.ts';
import { fresh } from '../../../contracts/harness.ts';
import { eventually } from '../../../support/eventually.ts';
import {
  type RedisServer,
  type RedisUnderTest,
  SHORT_TIMEOUTS,
  startCluster,
  startRedis,
} from '../../../support/redis-servers.ts';

const START_MS = 60_000;
const WAIT_MS = 500;
const QUIET = { debug() {}, info() {}, warn() {}, error() {} };
const closing: (() => unknown)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function startReader(
  redis: RedisUnderTest,
  isWanted: (inbox: string, connection: RedisConnection) => boolean,
) {
  closing.push(async () => {
    for (const server of redis.servers) server.signal('SIGCONT');
    await redis.stop();
  });
  const connection = connectRedis({ ...redis.settings, ...SHORT_TIMEOUTS }, { name: 'sender' });
  const blocking = openBlockingConnection(
    { ...redis.settings, ...SHORT_TIMEOUTS },
    { name: 'reader', longestWaitMs: WAIT_MS },
  );
  closing.push(() => connection.disconnect());
  closing.push(() => blocking.close());
  await Promise.all([connection, blocking.current()].map((each) => whenReady(each, START_MS)));
  const keys = createKeys(fresh('prefix'));
  let me = fresh('instance');
  while (!isWanted(keys.inbox(me), connection)) me = fresh('instance');
  const inbox = createInbox({
    connection,
    blocking: blocking.current,
    keys,
    group: 'scheduler',
    maxMessages: 1_000,
    maxDeliveries: 10,
    maxDead: 10,
    maxDeadOfTenant: 10,
  });
  await inbox.open(me);
  const seen: string[] = [];
  let replaced = 0;
  const reader = createInboxReader({
    instanceId: me,
    inbox,
    clock: systemClock,
    log: QUIET,
    meter: { count() {}, gauge() {}, observe() {} },
    settings: {
      maxMessages: 64,
      waitMs: WAIT_MS,
      scanIntervalMs: 1_000,
      scanCount: 100,
      idleMs: 1_000,
      watchdogMs: 1_500,
    },
    laneOf: (body) => body,
    handle: async (body) => void seen.push(body),
    stuck() {
      replaced += 1;
      blocking.reconnect();
    },
  });
  reader.start();
  closing.push(() => reader.stop());
  /** Like a sender that retries: an error means unknown, so a message may arrive twice. */
  const send = (body: string) => eventually(async () => (await inbox.send(me, body)) === 'sent');
  const handled = (body: string) => eventually(() => seen.includes(body));
  const isEmpty = () =>
    eventually(async () => {
      const { messages, dead } = await inbox.size(me);
      return messages === 0 && dead === 0;
    });
  return { connection, blocking, send, handled, isEmpty, seen, replaced: () => replaced };
}

const any = (): boolean => true;

describe('a reader that waits on a frozen server', () => {
  it('continues when the server continues', async () => {
    const redis = await startRedis();
    const { send, handled, isEmpty, replaced } = await startReader(redis, any);
    await send('before');
    await handled('before');
    const [server] = redis.servers as [RedisServer];
    server.signal('SIGSTOP');
    await eventually(() => replaced() >= 1);
    server.signal('SIGCONT');
    await send('after');
    await handled('after');
    await isEmpty();
  });

  it('continues at the promoted replica while the master stays frozen', async () => {
    const redis = await startCluster();
    const victim = redis.servers[0] as RedisServer;
    const liesOnVictim = (inbox: string, connection: RedisConnection): boolean =>
      (connection as unknown as { slots: string[][] }).slots[slotOf(inbox)]?.[0] ===
      `127.0.0.1:${victim.port}`;
    const { send, handled, isEmpty, replaced } = await startReader(redis, liesOnVictim);
    await send('before');
    await handled('before');
    await isEmpty();
    victim.signal('SIGSTOP');
    await send('after');
    await handled('after');
    expect(replaced()).toBeGreaterThanOrEqual(1);
    await isEmpty();
    victim.signal('SIGCONT');
    await send('once more');
    await handled('once more');
    await isEmpty();
  });

  it('continues after the store lost the inbox', async () => {
    const redis = await startRedis();
    const { connection, send, handled, isEmpty } = await startReader(redis, any);
    await send('before');
    await handled('before');
    await connection.flushall();
    await send('after');
    await handled('after');
    await isEmpty();
  });

  it('has no connection left after close, even if it is stuck', async () => {
    const redis = await startRedis();
    const { blocking } = await startReader(redis, any);
    blocking.close();
    blocking.reconnect();
    await eventually(() => blocking.current().status === 'end');
  });
});
