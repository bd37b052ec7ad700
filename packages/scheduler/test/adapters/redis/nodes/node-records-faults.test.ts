/** Node records when a part of Redis does not answer, and on a server without sharded channels. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  connectRedis,
  type RedisConnection,
  whenReady,
} from '../../../../src/adapters/redis/connection/redis-connection.ts';
import { createKeys } from '../../../../src/adapters/redis/keys.ts';
import { createNodeRecords } from '../../../../src/adapters/redis/node-records.ts';
import type { NodeRecords, RecordVersion } from '../../../../src/ports/node-records.ts';
import { times } from '../../../contracts/harness.ts';
import { nodeRecordFor } from '../../../contracts/node-record-fixtures.ts';
import { eventually } from '../../../support/eventually.ts';
import { type RedisUnderTest, SHORT_TIMEOUTS, startCluster } from '../../../support/redis-servers.ts';

const START_MS = 60_000;
const LONG_MS = 60_000;

describe('node records on a Cluster', () => {
  let redis: RedisUnderTest;
  let connection: RedisConnection;
  let subscriber: RedisConnection;

  beforeAll(async () => {
    redis = await startCluster();
    connection = connectRedis({ ...redis.settings, ...SHORT_TIMEOUTS }, { name: 'node-records' });
    subscriber = connectRedis(
      { ...redis.settings, ...SHORT_TIMEOUTS },
      { name: 'subscriber', isListening: true },
    );
    await Promise.all([whenReady(connection, START_MS), whenReady(subscriber, START_MS)]);
  }, START_MS);
  afterAll(async () => {
    connection?.disconnect();
    subscriber?.disconnect();
    await redis?.stop();
  });

  const open = (given = connection, listening = subscriber) =>
    createNodeRecords({
      connection: given,
      subscriber: listening,
      keys: createKeys(`test-${randomUUID()}`),
      forgetAfterMs: LONG_MS,
    });

  it('use plain channels on a server without sharded ones', async () => {
    const nodeRecords = open(withoutSharding(connection), withoutSharding(subscriber));
    const received: RecordVersion[] = [];
    const stop = await nodeRecords.subscribe((notices) => void received.push(...notices));
    const records = times(20, () => nodeRecordFor());
    for (const record of records) await nodeRecords.post(record, LONG_MS);
    await eventually(() => new Set(received.map(({ nodeId }) => nodeId)).size === records.length);
    await stop();
  });

  it('are unknown only on a frozen master, until its failover', async () => {
    const nodeRecords = open();
    const records = times(60, () => nodeRecordFor());
    await Promise.all(records.map((record) => nodeRecords.post(record, LONG_MS)));
    const received = new Set<string>();
    await nodeRecords.subscribe((notices) => {
      for (const { nodeId } of notices) received.add(nodeId);
    });
    const kinds = async () =>
      [...(await nodeRecords.read(records.map(({ nodeId }) => ({ nodeId })))).values()].map(
        ({ kind }) => kind,
      );
    expect(new Set(await kinds())).toEqual(new Set(['present']));

    redis.servers[0]?.signal('SIGSTOP');
    const [during, pages] = await Promise.all([kinds(), scanOf(nodeRecords)]);
    expect(new Set(during)).toEqual(new Set(['present', 'unknown']));
    expect(during.filter((kind) => kind === 'unknown').length).toBeLessThan(40);
    expect(pages.unanswered).toBeGreaterThan(0);
    expect(pages.found).toBeGreaterThan(0);

    await eventually(async () => (await kinds()).every((kind) => kind === 'present'));
    let version = 1;
    await eventually(async () => {
      version += 1;
      await Promise.allSettled(records.map((record) => nodeRecords.post({ ...record, version }, LONG_MS)));
      return received.size === records.length;
    });
    redis.servers[0]?.signal('SIGCONT');
  });
});

async function scanOf(nodeRecords: NodeRecords): Promise<{ found: number; unanswered: number }> {
  let [found, unanswered] = [0, 0];
  let cursor: string | undefined;
  do {
    const page = await nodeRecords.page(cursor, 100);
    found += page.nodeIds.length;
    unanswered += page.isWhole ? 0 : 1;
    cursor = page.cursor;
  } while (cursor !== undefined);
  return { found, unanswered };
}

/** The answer of a server without these commands. */
function withoutSharding(connection: RedisConnection): RedisConnection {
  const refuse = async (): Promise<never> => {
    throw new Error('ERR unknown command');
  };
  return new Proxy(connection, {
    get(target, name) {
      if (name === 'ssubscribe' || name === 'spublish') return refuse;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}
