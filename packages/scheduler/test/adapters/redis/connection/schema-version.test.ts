/** Instances with incompatible schema versions cannot use the same Redis. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  connectRedis,
  type RedisConnection,
  whenReady,
} from '../../../../src/adapters/redis/connection/redis-connection.ts';
import { COMPATIBLE, checkSchemaVersion } from '../../../../src/adapters/redis/connection/schema-version.ts';
import { createKeys, SCHEMA_VERSION } from '../../../../src/adapters/redis/keys.ts';
import { fresh, times } from '../../../contracts/harness.ts';
import { type RedisUnderTest, startRedis } from '../../../support/redis-servers.ts';

const START_MS = 60_000;

describe('the schema version in Redis', () => {
  let redis: RedisUnderTest;
  let connection: RedisConnection;

  beforeAll(async () => {
    redis = await startRedis();
    connection = connectRedis(redis.settings, { name: 'schema' });
    await whenReady(connection, START_MS);
  }, START_MS);
  afterAll(async () => {
    connection.disconnect();
    await redis.stop();
  });

  const start = () => createKeys(fresh('prefix'));

  it('is written by the first instance and accepted by all others of that version', async () => {
    const keys = start();
    await Promise.all(times(10, () => checkSchemaVersion(connection, keys)));
    expect(await connection.get(keys.schema)).toBe(String(SCHEMA_VERSION));
    expect(await connection.ttl(keys.schema)).toBe(-1);
  });

  it('refuses the start of an incompatible version, with the remedy', async () => {
    for (const found of ['2', '0', '01', '', 'garbage', '1 ']) {
      const keys = start();
      await connection.set(keys.schema, found);
      const refusal = checkSchemaVersion(connection, keys);
      await expect(refusal).rejects.toMatchObject({ code: 'SCHEDULER_DEPENDENCY_DOWN' });
      await expect(refusal).rejects.toThrow(
        /Stop all instances of the other version first.*key_prefix.*upgrading\.md/,
      );
      expect(await connection.get(keys.schema)).toBe(found);
    }
  });

  it('accepts only versions that are listed as compatible', async () => {
    const keys = start();
    await checkSchemaVersion(connection, keys, { own: 1 });
    await expect(checkSchemaVersion(connection, keys, { own: 2 })).rejects.toThrow(/this is version 2/);
    const compatible = { 1: [1], 2: [1, 2] };
    await checkSchemaVersion(connection, keys, { own: 2, compatible });
    // Instances of the earlier version can still be restarted.
    await checkSchemaVersion(connection, keys, { own: 1, compatible });
    await expect(checkSchemaVersion(connection, keys, { own: 3, compatible })).rejects.toThrow();
  });

  it('lists every version as compatible with itself and its neighbours only', () => {
    expect(COMPATIBLE[SCHEMA_VERSION]).toContain(SCHEMA_VERSION);
    for (const [version, others] of Object.entries(COMPATIBLE)) {
      for (const other of others) expect(Math.abs(Number(version) - other)).toBeLessThanOrEqual(1);
    }
  });

  it('is an error if Redis does not answer', async () => {
    const gone = connectRedis(redis.settings, { name: 'gone' });
    gone.disconnect();
    await expect(checkSchemaVersion(gone, start())).rejects.toMatchObject({
      code: 'SCHEDULER_DEPENDENCY_DOWN',
    });
  });
});
