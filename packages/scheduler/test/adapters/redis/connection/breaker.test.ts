/** I7: a server that does not answer costs one timeout, not one per command; other servers are not affected. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isUnresponsive } from '../../../../src/adapters/redis/connection/breaker.ts';
import {
  connectRedis,
  type RedisConnection,
  whenReady,
} from '../../../../src/adapters/redis/connection/redis-connection.ts';
import { slotOf } from '../../../../src/adapters/redis/connection/servers.ts';
import { isUnsent } from '../../../../src/domain/errors.ts';
import { eventually } from '../../../support/eventually.ts';
import { type RedisUnderTest, startCluster, startRedis } from '../../../support/redis-servers.ts';

const START_MS = 60_000;
/** Long enough for the servers that answer, on a busy machine. */
const COMMAND_TIMEOUT_MS = 3_000;

async function timed(run: () => Promise<unknown>) {
  const begunAt = performance.now();
  const received = await run().then(
    () => ({ isAnswered: true, wasUnsent: false }),
    (fault: unknown) => ({ isAnswered: false, wasUnsent: isUnsent(fault) }),
  );
  return { ...received, ms: performance.now() - begunAt };
}

describe.each([
  ['one server', () => startRedis(), 1],
  ['a Cluster', startCluster, 3],
] as const)('a frozen server of %s', (_, start, masters) => {
  let redis: RedisUnderTest;
  let connection: RedisConnection;

  beforeAll(async () => {
    redis = await start();
    connection = connectRedis(
      { ...redis.settings, commandTimeoutMs: COMMAND_TIMEOUT_MS },
      { name: 'breaker' },
    );
    await whenReady(connection, START_MS);
  }, START_MS);
  afterAll(async () => {
    connection.disconnect();
    for (const server of redis.servers) server.signal('SIGCONT');
    await redis.stop();
  });

  /** A key on the master of that number; the first one is frozen. */
  const keyOn = (master: number): string => {
    const part = Math.ceil(16_384 / masters);
    for (let at = 0; ; at += 1) if (Math.floor(slotOf(`key-${at}`) / part) === master) return `key-${at}`;
  };

  it('costs one timeout, then refuses at once until it answers again', async () => {
    const frozen = redis.servers[0];
    expect(await timed(() => connection.set(keyOn(0), 'before'))).toMatchObject({ isAnswered: true });
    frozen?.signal('SIGSTOP');
    const first = await timed(() => connection.set(keyOn(0), 'first'));
    expect(first).toMatchObject({ isAnswered: false, wasUnsent: false });
    expect(first.ms).toBeGreaterThan(COMMAND_TIMEOUT_MS - 50);
    for (let times = 0; times < 5; times += 1) {
      const next = await timed(() => connection.set(keyOn(0), 'next'));
      expect(next).toMatchObject({ isAnswered: false, wasUnsent: true });
    }
    expect(isUnresponsive(connection)).toBe(masters === 1);
    for (let other = 1; other < masters; other += 1) {
      const theirs = await timed(() => connection.set(keyOn(other), 'theirs'));
      expect(theirs.isAnswered).toBe(true);
    }
    frozen?.signal('SIGCONT');
    await eventually(async () => (await connection.set(keyOn(0), 'after')) === 'OK');
    expect(isUnresponsive(connection)).toBe(false);
    expect(await connection.get(keyOn(0))).toBe('after');
  });
});
