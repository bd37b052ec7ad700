/** Keys of a node in Redis and their expiry: the presence for its time, the capabilities for an hour. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  connectRedis,
  type RedisConnection,
  whenReady,
} from '../../../../src/adapters/redis/connection/redis-connection.ts';
import { createKeys } from '../../../../src/adapters/redis/keys.ts';
import { createNodeRecords } from '../../../../src/adapters/redis/node-records.ts';
import { nodeRecordFor } from '../../../contracts/node-record-fixtures.ts';
import { type RedisUnderTest, startRedis } from '../../../support/redis-servers.ts';

const START_MS = 60_000;
const [PRESENT_MS, HOUR_MS, MINUTE_MS] = [45_000, 3_600_000, 60_000];
/** Time that may pass between a write and the check, on a busy machine. */
const SLACK_MS = 10_000;

let redis: RedisUnderTest;
let connections: RedisConnection[] = [];
beforeAll(async () => {
  redis = await startRedis();
  connections = [
    connectRedis(redis.settings, { name: 'node-records' }),
    connectRedis(redis.settings, { name: 'subscriber', isListening: true }),
  ];
  await Promise.all(connections.map((each) => whenReady(each, START_MS)));
}, START_MS);
afterAll(async () => {
  for (const connection of connections) connection.disconnect();
  await redis?.stop();
});

it('presence has the format "ts=<ms>;region=<region>" and its own expiry', async () => {
  const [connection, subscriber] = connections as [RedisConnection, RedisConnection];
  const keys = createKeys('record-keys');
  const nodeRecords = createNodeRecords({ connection, subscriber, keys, forgetAfterMs: HOUR_MS });
  const posted = nodeRecordFor({ region: 'eu-1' });
  const { nodeId, generation } = posted;
  const ttls = async () => [
    await connection.pttl(keys.nodePresence(nodeId)),
    await connection.pttl(keys.nodeCapabilities(nodeId)),
  ];
  const within = (ms: number) => expect.toSatisfy((left: number) => left <= ms && left > ms - SLACK_MS);

  await nodeRecords.post(posted, PRESENT_MS);
  expect(await connection.get(keys.nodePresence(nodeId))).toBe(`ts=${posted.view.lastBeatAt};region=eu-1`);
  expect(await ttls()).toEqual([within(PRESENT_MS), within(HOUR_MS)]);

  const at = posted.view.lastBeatAt + 5_000;
  await connection.pexpire(keys.nodeCapabilities(nodeId), HOUR_MS / 2 - 1);
  await nodeRecords.seen(posted, PRESENT_MS, at);
  expect(await connection.get(keys.nodePresence(nodeId))).toBe(`ts=${at};region=eu-1`);
  expect(await ttls()).toEqual([within(PRESENT_MS), within(HOUR_MS)]);

  await nodeRecords.withdraw(nodeId, generation);
  expect(await connection.exists(keys.nodePresence(nodeId))).toBe(0);
  expect((await ttls())[1]).toEqual(within(MINUTE_MS));
});

it('the owner key names the holder and expires with the capabilities', async () => {
  const [connection, subscriber] = connections as [RedisConnection, RedisConnection];
  const keys = createKeys('record-owner');
  const nodeRecords = createNodeRecords({ connection, subscriber, keys, forgetAfterMs: HOUR_MS });
  const held = (instanceId: string, generation: number) =>
    nodeRecordFor({ nodeId: 'node-o', generation, holder: { instanceId, incarnation: 'one' } });
  const holder = () => connection.get(keys.nodeOwner('node-o'));
  const ttl = () => connection.pttl(keys.nodeOwner('node-o'));
  const first = held('here', 1);
  await nodeRecords.post(first, PRESENT_MS);
  expect(await holder()).toBe('here');
  expect(await ttl()).toBeGreaterThan(HOUR_MS - SLACK_MS);
  for (const key of [keys.nodeCapabilities('node-o'), keys.nodeOwner('node-o')])
    await connection.pexpire(key, HOUR_MS / 2 - 1);
  await nodeRecords.seen(first, PRESENT_MS, first.view.lastBeatAt + 1);
  expect(await ttl()).toBeGreaterThan(HOUR_MS - SLACK_MS);

  await nodeRecords.post(held('there', 2), PRESENT_MS);
  expect(await holder()).toBe('there');
  await nodeRecords.post(first, PRESENT_MS);
  await nodeRecords.seen(first, PRESENT_MS, first.view.lastBeatAt + 2);
  await nodeRecords.withdraw('node-o', 1);
  expect(await holder()).toBe('there');
  await nodeRecords.withdraw('node-o', 2);
  expect(await holder()).toBeNull();
});
