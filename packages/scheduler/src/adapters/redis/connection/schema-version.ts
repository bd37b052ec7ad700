/** Cold path, at the start: checks that the keys in Redis were written by a compatible version. */
import { SchedulerError } from '../../../domain/errors.ts';
import { type Keys, SCHEMA_VERSION } from '../keys.ts';
import { asDependency } from './dependency.ts';
import type { RedisConnection } from './redis-connection.ts';

/**
 * Version → versions that can share a Redis with it, itself included. The later version lists the earlier one, and only after a test
 * has run both on one Redis. The stored version stays the earlier one while instances of it run, so that they can be restarted.
 */
export const COMPATIBLE: Readonly<Record<number, readonly number[]>> = { 1: [1] };

export interface SchemaCheck {
  /** Version of this process. */
  readonly own?: number;
  readonly compatible?: Readonly<Record<number, readonly number[]>>;
}

/** Writes the version if there is none, as on an empty Redis. Throws SCHEDULER_DEPENDENCY_DOWN if Redis has an incompatible one. */
export async function checkSchemaVersion(
  connection: RedisConnection,
  keys: Pick<Keys, 'schema'>,
  { own = SCHEMA_VERSION, compatible = COMPATIBLE }: SchemaCheck = {},
): Promise<void> {
  const found = await asDependency('checking the schema version', async () => {
    await connection.set(keys.schema, String(own), 'NX');
    return connection.get(keys.schema);
  });
  if ((compatible[own] ?? [own]).some((version) => String(version) === found)) return;
  throw new SchedulerError(
    'SCHEDULER_DEPENDENCY_DOWN',
    `Redis holds keys of schema version ${JSON.stringify(found)} under ${keys.schema}, and this is version ${own}. ` +
      'Stop all instances of the other version first, or give these another scheduler.cluster.redis.key_prefix (docs/upgrading.md). ' +
      `When no instance of the other version runs any more, its mark can be removed: redis-cli DEL ${keys.schema}`,
  );
}
