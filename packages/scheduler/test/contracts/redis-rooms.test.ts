/** Logs, followers and records of rooms obey their contracts on one Redis, on a Cluster, and with sealed texts. */
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RedisConnection } from '../../src/adapters/redis/connection/redis-connection.ts';
import type { Keys } from '../../src/adapters/redis/keys.ts';
import { createRoomLog } from '../../src/adapters/redis/room-log.ts';
import { createRoomRecords } from '../../src/adapters/redis/room-records.ts';
import { createSealedPayload, PLAIN } from '../../src/adapters/redis/sealed-payload.ts';
import { type Connected, connectTo, freshKeys, realTime } from '../support/redis-jobs.ts';
import { startCluster, startRedis } from '../support/redis-servers.ts';
import { roomFollowersContract } from './room-followers.ts';
import { finalOf, LOG_LIMITS, roomLogContract, textOf, utteranceOf } from './room-log.ts';
import { roomOf, roomRecordsContract } from './room-records.ts';

const START_MS = 60_000;
const SEALED = createSealedPayload([{ id: 'k1', secret: randomBytes(32) }]);

const roomsOn = (connection: RedisConnection, keys: Keys, payload = PLAIN, limits = LOG_LIMITS) => ({
  ...createRoomLog({ connection, keys, payload, ...limits }),
  records: createRoomRecords({ connection, keys, payload }),
});

describe.each([
  ['one Redis', () => startRedis(), PLAIN],
  ['a Cluster, sealed', startCluster, SEALED],
])('on %s', (where, startServers, payload) => {
  let redis: Connected;

  beforeAll(async () => {
    redis = await connectTo(startServers());
  }, START_MS);
  afterAll(() => redis.close());

  const openRooms = async (limits = LOG_LIMITS) => ({
    ...realTime,
    ...roomsOn(redis.connection, freshKeys(), payload, limits),
    close: async () => undefined,
  });
  roomLogContract(where, openRooms);
  roomFollowersContract(where, openRooms);
  roomRecordsContract(where, openRooms);

  async function said() {
    const keys = freshKeys();
    const rooms = roomsOn(redis.connection, keys, payload);
    await rooms.followers.add('r', 'a/1');
    await rooms.log.open('r');
    await rooms.log.accept('r', utteranceOf('s-1.0', { speakerName: 'secret name' }));
    await rooms.log.append('r', [textOf(1, 'secret text'), finalOf(1, 'es', 'secret outcome')]);
    await rooms.records.save(roomOf({ roomId: 'r', title: 'secret title' }), 60_000);
    await rooms.records.bind({ tenantId: 't', code: 'c', roomId: 'r' }, 60_000, 10);
    return { keys, ...rooms };
  }

  it('lets every key of a room expire, and leaves none of an index that is empty', async () => {
    const { keys, log, followers } = await said();
    const { connection } = redis;
    for (const key of [keys.roomLog('r'), keys.roomFollowers('r'), keys.roomRecord('r'), keys.roomCodes('t')])
      expect(await connection.pttl(key)).toBeGreaterThan(0);
    await followers.remove('r', 'a/1');
    expect(await connection.exists(keys.instanceRooms('a'))).toBe(0);
    expect(await connection.exists(keys.roomFollowers('r'))).toBe(0);
    await log.expire('r', 0);
    expect(await connection.exists(keys.roomLog('r'))).toBe(0);
  });

  it('trims to its limit, fields included, however long the room lasts', async () => {
    const { keys, log } = await said();
    for (let at = 0; at < 3 * LOG_LIMITS.maxEntries; at += 1) await log.accept('r', utteranceOf(`s-1.${at}`));
    const perEntry = 3;
    const ends = 5;
    expect(await redis.connection.hlen(keys.roomLog('r'))).toBe(perEntry * LOG_LIMITS.maxEntries + ends);
  });

  it('stores texts of a room in the clear only without a key', async () => {
    const { keys } = await said();
    const stored = await Promise.all(
      [keys.roomLog('r'), keys.roomRecord('r')].map((key) => redis.connection.hgetall(key)),
    );
    const text = JSON.stringify(stored);
    const isSealed = payload === SEALED;
    expect([text.includes('sealed:'), text.includes('secret')]).toEqual([isSealed, !isSealed]);
  });
});
