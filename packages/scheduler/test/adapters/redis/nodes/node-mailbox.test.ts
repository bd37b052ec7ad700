/** Mailboxes of several instances: one puts entries, another hands them out, and no key is left. */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createCapacityLedger } from '../../../../src/adapters/redis/capacity-ledger.ts';
import {
  connectRedis,
  type RedisConnection,
  whenReady,
} from '../../../../src/adapters/redis/connection/redis-connection.ts';
import { createKeys, type Keys } from '../../../../src/adapters/redis/keys.ts';
import { LOOK_EVERY_MS } from '../../../../src/adapters/redis/node-mailbox/waiting-takes.ts';
import { createNodeMailbox } from '../../../../src/adapters/redis/node-mailbox.ts';
import { systemClock as clock } from '../../../../src/adapters/system/clock.ts';
import { leaseId } from '../../../../src/domain/lease.ts';
import type { MailboxEntry } from '../../../../src/ports/node-mailbox.ts';
import { fresh, times } from '../../../contracts/harness.ts';
import { createManualClock } from '../../../support/manual-clock.ts';
import {
  type RedisUnderTest,
  startCluster,
  startRedis,
  startRedisWithoutShardedChannels,
} from '../../../support/redis-servers.ts';

const START_MS = 60_000;

describe.each([
  ['one server', () => startRedis()],
  ['a server without sharded channels', startRedisWithoutShardedChannels],
  ['a Cluster', startCluster],
])('mailboxes of two instances on %s', (_, startServers) => {
  let servers: RedisUnderTest;
  const opened: RedisConnection[] = [];

  async function connect(name: string, isListening = false): Promise<RedisConnection> {
    const connection = connectRedis(servers.settings, { name, isListening });
    opened.push(connection);
    await whenReady(connection, START_MS);
    return connection;
  }

  async function openInstance(keys: Keys, { isSubscribed = true, maxPerNode = 100, time = clock } = {}) {
    const connection = await connect('instance');
    const subscriber = isSubscribed
      ? await connect('subscriber', true)
      : ({
          on() {},
          ssubscribe: async () => Promise.reject(new Error('deaf')),
          sunsubscribe: async () => 0,
        } as never);
    const ledger = createCapacityLedger({ connection, keys });
    /** A new entry whose lease is reserved on the node. */
    async function entryFor(node: string, ttlMs = 60_000): Promise<MailboxEntry<string>> {
      const jobId = fresh('job');
      const slot = { lease: leaseId(jobId, 1), ttlMs: 60_000 };
      await ledger.declare(node, { slots: 1_000, isAccepting: true });
      await ledger.reserve(node, slot.lease, 60_000);
      return { jobId, expiresAt: clock.now() + ttlMs, body: 'hello', slot };
    }
    const mailbox = createNodeMailbox<string>({ connection, subscriber, keys, clock: time, maxPerNode });
    return { connection, mailbox, entryFor };
  }

  beforeAll(async () => {
    servers = await startServers();
  }, START_MS);

  afterAll(async () => {
    for (const connection of opened) connection.disconnect();
    await servers.stop();
  });

  it('wake a take on one instance when another puts an entry', async () => {
    const keys = createKeys(`test-${randomUUID()}`);
    // The clock of the second instance does not advance, so its take never reads periodically.
    const time = createManualClock(clock.now());
    const [a, b] = await Promise.all([openInstance(keys), openInstance(keys, { time })]);
    for (let round = 0; round < 5; round += 1) {
      const node = fresh('node');
      const waiting = b.mailbox.take(node, { max: 5, waitMs: 10_000 });
      await sleep(30);
      const put = await a.entryFor(node);
      await a.mailbox.put(node, put);
      expect(await waiting).toEqual([put]);
    }
  });

  it('hand out every entry once, on any instance', async () => {
    const keys = createKeys(`test-${randomUUID()}`);
    const [a, b] = await Promise.all([openInstance(keys), openInstance(keys)]);
    const node = fresh('node');
    const entries = await Promise.all(times(40, () => a.entryFor(node)));
    const takes = times(40, (index) =>
      (index % 2 === 0 ? a : b).mailbox.take(node, { max: 1, waitMs: 60_000 }),
    );
    await sleep(30);
    for (const [index, one] of entries.entries()) await (index % 2 === 0 ? a : b).mailbox.put(node, one);
    const taken = (await Promise.all(takes)).flat();
    expect(taken.map(({ jobId }) => jobId).sort()).toEqual(entries.map(({ jobId }) => jobId).sort());
  });

  it('find entries although their notices were lost', async () => {
    const keys = createKeys(`test-${randomUUID()}`);
    const time = createManualClock(clock.now());
    const { mailbox, entryFor } = await openInstance(keys, { isSubscribed: false, time });
    const node = fresh('node');
    let taken: readonly MailboxEntry<string>[] | undefined;
    const waiting = mailbox.take(node, { max: 5, waitMs: 1_000 * LOOK_EVERY_MS }).then((entries) => {
      taken = entries;
    });
    await sleep(30);
    const put = { ...(await entryFor(node)), expiresAt: clock.now() + 1_000 * LOOK_EVERY_MS };
    await mailbox.put(node, put);
    await expect
      .poll(async () => {
        await time.advance(LOOK_EVERY_MS / 20);
        return taken;
      })
      .toEqual([put]);
    await waiting;
  });

  it('queue a job once if it is put twice', async () => {
    const keys = createKeys(`test-${randomUUID()}`);
    const { mailbox, entryFor } = await openInstance(keys);
    const node = fresh('node');
    const [first, second] = [await entryFor(node), await entryFor(node)];
    for (const each of [first, second, first]) expect(await mailbox.put(node, each)).toBe('queued');
    expect(await mailbox.take(node, { max: 9, waitMs: 0 })).toEqual([first, second]);
  });

  it('reuse the room of an expired entry', async () => {
    const keys = createKeys(`test-${randomUUID()}`);
    const { mailbox, entryFor } = await openInstance(keys, { maxPerNode: 2 });
    const node = fresh('node');
    const [lasting, short, next] = [await entryFor(node), await entryFor(node, 50), await entryFor(node)];
    for (const each of [lasting, short]) await mailbox.put(node, each);
    await sleep(60);
    expect(await mailbox.put(node, next)).toBe('queued');
    expect(await mailbox.put(node, await entryFor(node))).toBe('full');
    expect(await mailbox.take(node, { max: 9, waitMs: 0 })).toEqual([lasting, next]);
  });

  it('put the entries of an aborted take back at their positions', async () => {
    const keys = createKeys(`test-${randomUUID()}`);
    const { mailbox, entryFor } = await openInstance(keys);
    const node = fresh('node');
    const entries = await Promise.all(times(4, () => entryFor(node)));
    for (const each of entries) await mailbox.put(node, each);
    const leaving = times(2, () => {
      const abort = new AbortController();
      const taking = mailbox.take(node, { max: 2, waitMs: 1_000, signal: abort.signal });
      abort.abort();
      return taking;
    });
    expect((await Promise.all(leaving)).flat()).toEqual([]);
    expect(await mailbox.take(node, { max: 9, waitMs: 0 })).toEqual(entries);
  });

  it('leave no key, fetched or not', async () => {
    const keys = createKeys(`test-${randomUUID()}`);
    const { mailbox, connection, entryFor } = await openInstance(keys);
    const [fetched, lasting, forgotten] = [fresh('node'), fresh('node'), fresh('node')];
    const both = (node: string) => [keys.nodeMailbox(node), keys.nodeMailboxBodies(node)] as const;
    const count = (node: string) => (connection as Redis).exists(...both(node));
    await mailbox.put(fetched, await entryFor(fetched));
    expect(await count(fetched)).toBe(2);
    await mailbox.take(fetched, { max: 1, waitMs: 0 });
    expect(await count(fetched)).toBe(0);
    // The keys expire with the last of their entries.
    await mailbox.put(lasting, await entryFor(lasting, 60_000));
    await mailbox.put(lasting, await entryFor(lasting, 50));
    for (const key of both(lasting)) expect(await connection.pttl(key)).toBeGreaterThan(30_000);
    await mailbox.put(forgotten, await entryFor(forgotten, 50));
    await expect.poll(() => count(forgotten)).toBe(0);
  });

  it('unsubscribe after the last waiting take has left', async () => {
    const keys = createKeys(`test-${randomUUID()}`);
    const time = createManualClock();
    const { mailbox, connection } = await openInstance(keys, { time });
    const node = fresh('node');
    const channel = keys.nodeArrivals(node);
    /** Number of receivers. */
    const publish = async (): Promise<number> => {
      const received = await connection.spublish(channel, '').catch(async () => {
        // Every server counts its own subscribers only.
        const servers = connection instanceof Redis ? [connection] : connection.nodes('all');
        const counts = await Promise.all(servers.map((server) => server.publish(channel, '')));
        return counts.reduce((all, count) => all + count, 0);
      });
      return Number(received);
    };
    const abort = new AbortController();
    const waiting = mailbox.take(node, { max: 1, waitMs: 10_000, signal: abort.signal });
    await expect.poll(publish).toBe(1);
    abort.abort();
    await waiting;
    await expect.poll(publish).toBe(0);
  });
});
