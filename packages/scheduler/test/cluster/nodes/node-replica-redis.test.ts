/** The node replica on a real Redis: nodes reach other instances, at a known cost, and an emptied Redis is restored. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createCapacityLedger } from '../../../src/adapters/redis/capacity-ledger.ts';
import {
  connectRedis,
  type RedisConnection,
  whenReady,
} from '../../../src/adapters/redis/connection/redis-connection.ts';
import { createKeys, type Keys, NODE_PARTS } from '../../../src/adapters/redis/keys.ts';
import { partOf } from '../../../src/adapters/redis/node-id-claims/node-count.ts';
import { createNodeIdClaims } from '../../../src/adapters/redis/node-id-claims.ts';
import { createNodeRecords } from '../../../src/adapters/redis/node-records.ts';
import { systemClock as clock } from '../../../src/adapters/system/clock.ts';
import { fresh, times } from '../../contracts/harness.ts';
import { eventually } from '../../support/eventually.ts';
import { type RedisUnderTest, startRedis } from '../../support/redis-servers.ts';
import { joinReplica, ownNode } from './node-replica-rig.ts';

const START_MS = 60_000;
const BYTES_PER_IDLE_NODE = 2_048;
/** The ledger adds one write per heartbeat; two are allowed. */
const WRITES_PER_BEAT = 1;

describe('the node replica on one Redis', () => {
  let redis: RedisUnderTest;
  let connections: RedisConnection[] = [];
  const open: { stop(): Promise<void> }[] = [];

  beforeAll(async () => {
    redis = await startRedis();
    connections = [
      connectRedis(redis.settings, { name: 'a' }),
      connectRedis(redis.settings, { name: 'b' }),
      connectRedis(redis.settings, { name: 'subscriber-a', isListening: true }),
      connectRedis(redis.settings, { name: 'subscriber-b', isListening: true }),
    ];
    await Promise.all(connections.map((connection) => whenReady(connection, START_MS)));
  }, START_MS);
  afterAll(async () => {
    await Promise.all(open.map((replica) => replica.stop()));
    for (const connection of connections) connection.disconnect();
    await redis?.stop();
  });

  async function pair() {
    const keys = createKeys(`test-${randomUUID()}`);
    const [a, b, earA, earB] = connections as [
      RedisConnection,
      RedisConnection,
      RedisConnection,
      RedisConnection,
    ];
    const join = (connection: RedisConnection, subscriber: RedisConnection) =>
      joinReplica({
        nodeRecords: createNodeRecords({ connection, subscriber, keys, forgetAfterMs: 600_000 }),
        clock,
        settings: { tickMs: 200, presenceMs: 45_000 },
      });
    const sides = { keys, connection: a, here: join(a, earA), there: join(b, earB) };
    for (const { replica } of [sides.here, sides.there]) {
      await replica.start();
      open.push(replica);
    }
    return sides;
  }

  it('shows a whole fleet that joins at once in a few reads', async () => {
    const { here, there } = await pair();
    for (const node of times(1_000, () => ownNode({ intervalMs: 15_000 }))) here.replica.keep(node);
    await eventually(() => there.views.size === 1_000);
    expect(there.calls.read).toBeLessThan(500);
  });

  it('writes once per heartbeat', async () => {
    const { connection, keys, here, there } = await pair();
    const nodes = times(100, () => ownNode({ intervalMs: 15_000 }));
    for (const node of nodes) here.replica.keep(node);
    await eventually(() => there.views.size === nodes.length);
    const writes = async (): Promise<number> => {
      const stats = await connection.info('commandstats');
      const calls = (name: string) =>
        Number(new RegExp(`cmdstat_${name}:calls=(\\d+)`).exec(stats)?.[1] ?? 0);
      return calls('set') + calls('pexpire') + calls('spublish') + calls('publish') + calls('zadd');
    };
    const [before, sent] = [await writes(), here.calls.seen];
    const at = clock.now() + 1;
    const lastPresence = keys.nodePresence(nodes.at(-1)?.nodeId ?? '');
    for (const { nodeId } of nodes) here.replica.beat(nodeId, at);
    await eventually(async () => (await connection.get(lastPresence))?.startsWith(`ts=${at};`));
    const perBeat = ((await writes()) - before) / nodes.length;
    expect(here.calls.seen - sent).toBe(WRITES_PER_BEAT * nodes.length);
    expect(perBeat).toBe(WRITES_PER_BEAT);
  });

  it(`keeps an idle node in less than ${BYTES_PER_IDLE_NODE} bytes, its capacity and claim included`, async () => {
    const { connection, keys, here, there } = await pair();
    const nodeId = `node-${randomUUID()}`;
    await createNodeIdClaims({ connection, keys, clock, maxNodes: 100 }).claim(nodeId, fresh('credential'));
    await createCapacityLedger({ connection, keys }).declare(nodeId, { slots: 4, isAccepting: true });
    here.replica.keep(ownNode({ nodeId, intervalMs: 15_000, region: 'eu-west-1' }));
    await eventually(() => there.views.has(nodeId));
    const bytes = await memoryOf(connection, keys, nodeId);
    console.info(`an idle node takes ${JSON.stringify(bytes)} bytes`);
    expect(Object.values(bytes).reduce((sum, each) => sum + each, 0)).toBeLessThan(BYTES_PER_IDLE_NODE);
    expect(await connection.get(keys.nodePresence(nodeId))).toMatch(/^ts=\d+;region=eu-west-1$/);
    const ttl = await connection.pttl(keys.nodePresence(nodeId));
    expect(ttl).toBeGreaterThan(0.8 * 45_000 - 5_000);
    expect(ttl).toBeLessThanOrEqual(1.2 * 45_000);
  });

  it('restores an emptied Redis without removing a node', async () => {
    const { connection, keys, here, there } = await pair();
    const nodes = times(50, () => ownNode({ intervalMs: 15_000 }));
    for (const node of nodes) here.replica.keep(node);
    await eventually(() => there.views.size === nodes.length);
    await connection.flushall();
    for (const { nodeId } of nodes) here.replica.beat(nodeId, clock.now());
    await eventually(async () => (await listed(connection, keys)) === nodes.length);
    for (const { nodeId } of nodes) expect(await connection.exists(keys.nodeCapabilities(nodeId))).toBe(1);
    expect(there.received.removed).toEqual([]);
    expect(there.views.size).toBe(nodes.length);
  });
});

async function listed(connection: RedisConnection, keys: Keys): Promise<number> {
  const counts = await Promise.all(times(NODE_PARTS, (part) => connection.zcard(keys.nodesSeen(part))));
  return counts.reduce((sum, count) => sum + count, 0);
}

/** The part of the index counts as a whole, although other nodes share it. */
async function memoryOf(
  connection: RedisConnection,
  keys: Keys,
  nodeId: string,
): Promise<Record<string, number>> {
  const size = async (key: string) => Number((await connection.call('MEMORY', 'USAGE', key)) ?? 0);
  return {
    meta: await size(keys.nodeMeta(nodeId)),
    record: await size(keys.nodeCapabilities(nodeId)),
    presence: await size(keys.nodePresence(nodeId)),
    holder: await size(keys.nodeOwner(nodeId)),
    leases: await size(keys.nodeLeases(nodeId)),
    listing: await size(keys.nodesSeen(partOf(nodeId))),
  };
}
