/** Redis operations by result: every command is counted once, under its name or that of its script. */
import { describe, expect, it, onTestFinished } from 'vitest';
import { createCapacityLedger } from '../../../../src/adapters/redis/capacity-ledger.ts';
import {
  type CommandCounts,
  createCommandCounts,
} from '../../../../src/adapters/redis/connection/command-counts.ts';
import {
  closeRedis,
  connectRedis,
  whenReady,
} from '../../../../src/adapters/redis/connection/redis-connection.ts';
import { createKeys } from '../../../../src/adapters/redis/keys.ts';
import {
  type RedisUnderTest,
  SHORT_TIMEOUTS,
  startCluster,
  startRedis,
} from '../../../support/redis-servers.ts';

const START_MS = 60_000;

const countsOf = (counts: CommandCounts) =>
  new Map(counts.drain().map(({ op, result, count }) => [`${op} ${result}`, count]));

async function open(start: () => Promise<RedisUnderTest>) {
  const redis = await start();
  onTestFinished(() => redis.stop());
  const counts = createCommandCounts();
  const connection = connectRedis({ ...redis.settings, ...SHORT_TIMEOUTS }, { name: 'counted' }, counts);
  onTestFinished(() => closeRedis(connection));
  await whenReady(connection, START_MS);
  counts.drain();
  return { redis, counts, connection };
}

describe.each([
  ['one server', () => startRedis()],
  ['a Cluster', startCluster],
] as const)('commands to %s', (_, start) => {
  it(
    'are counted once, by command name or script name',
    async () => {
      const { counts, connection } = await open(start);
      const ledger = createCapacityLedger({ connection, keys: createKeys('counted'), idleMs: 60_000 });
      await ledger.declare('node-a', { slots: 2, isAccepting: true });
      for (let at = 0; at < 3; at += 1) await ledger.reserve('node-a', `job-${at}:1`, 5_000);
      await connection.set('{x}', '1');
      const counted = countsOf(counts);
      // The first run had to send the whole script: two commands, both successful.
      expect(counted.get('reserve-slot ok')).toBe(4);
      expect(counted.get('set ok')).toBe(1);
      expect([...counted.keys()].filter((name) => name.endsWith(' err'))).toEqual([]);
      expect(counts.drain().filter(({ op }) => op === 'set')).toEqual([]);
    },
    START_MS,
  );

  it(
    'refused commands are errors, redirected ones are not',
    async () => {
      const { counts, connection } = await open(start);
      await connection.set('{list}', 'text');
      await expect(connection.lpush('{list}', 'x')).rejects.toThrow('WRONGTYPE');
      await expect(connection.xgroup('CREATE', '{s}', 'g', '0', 'MKSTREAM')).resolves.toBe('OK');
      await expect(connection.xgroup('CREATE', '{s}', 'g', '0', 'MKSTREAM')).rejects.toThrow('BUSYGROUP');
      const counted = countsOf(counts);
      expect(counted.get('lpush err')).toBe(1);
      expect(counted.get('xgroup ok')).toBe(2);
    },
    START_MS,
  );
});

it(
  'commands that the breaker refuses are errors',
  async () => {
    const { redis, counts, connection } = await open(() => startRedis());
    const [server] = redis.servers;
    server?.signal('SIGSTOP');
    onTestFinished(() => void server?.signal('SIGCONT'));
    await expect(connection.get('a')).rejects.toThrow();
    await expect(connection.get('a')).rejects.toThrow('does not answer');
    expect(countsOf(counts).get('get err')).toBe(2);
  },
  START_MS,
);

it('I11 bounded: invented names are counted as other', () => {
  const counts = createCommandCounts();
  for (let at = 0; at < 1_000; at += 1) counts.note({ name: `made-up-${at}`, args: [] } as never);
  const drained = counts.drain();
  expect(drained.length).toBeLessThanOrEqual(101);
  expect(drained.reduce((sum, { count }) => sum + count, 0)).toBe(1_000);
  expect(drained.find(({ op }) => op === 'other')?.count).toBe(900);
});
