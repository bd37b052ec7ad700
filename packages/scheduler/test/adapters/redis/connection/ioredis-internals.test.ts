/**
 * The parts of ioredis that it does not document and that `adapters/redis/connection/` relies on. If one of these tests fails after
 * an update of ioredis, the file named in the test has to change with it.
 */
import { Cluster, Command, Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import {
  describeScript,
  ScriptCommand,
  TIMED_OUT,
} from '../../../../src/adapters/redis/connection/script-command.ts';
import { eventually } from '../../../support/eventually.ts';
import { type RedisUnderTest, startCluster, startRedis } from '../../../support/redis-servers.ts';

const START_MS = 30_000;
const SCRIPT = "return {KEYS[1], ARGV[1], ARGV[2] or ''}";

const addressOf = (url: string) => ({ host: new URL(url).hostname, port: Number(new URL(url).port) });

describe('a command (script-command.ts, servers.ts, run-for-many.ts)', () => {
  it('has the members that ScriptCommand overrides and reads', () => {
    const command = new Command('evalsha', ['digest', '1', '{a}key']);
    expect(command.name).toBe('evalsha');
    expect(command.args).toEqual(['digest', '1', '{a}key']);
    expect(command.isSettled).toBe(false);
    expect(command.promise).toBeInstanceOf(Promise);
    for (const method of ['toWritable', 'getKeys', 'setTimeout', 'reject', 'resolve'] as const)
      expect(command[method]).toBeTypeOf('function');
    command.resolve('done');
    expect(command.isSettled).toBe(true);
  });

  it('writes the same bytes as ScriptCommand', () => {
    const plain = new Command('evalsha', ['digest', '1', 'key', 'ä', '2'], { replyEncoding: 'utf8' });
    const ours = new ScriptCommand(describeScript('name', 'digest'), ['key'], ['ä', 2]);
    expect(ours.toWritable()).toBe(String(plain.toWritable({})));
    expect(ours.getKeys().map(String)).toEqual(plain.getKeys().map(String));
    expect(ours.getSlot()).toBe(plain.getSlot());
  });

  it('computes the hash slot of its first key', () => {
    expect(new Command('exists', ['123456789']).getSlot()).toBe(0x31c3);
    expect(new Command('exists', ['{123456789}:x']).getSlot()).toBe(0x31c3);
  });
});

describe('a connection to one server', () => {
  let redis: RedisUnderTest;
  beforeAll(async () => {
    redis = await startRedis();
  }, START_MS);
  afterAll(() => redis.stop());

  async function connect(options: { commandTimeout?: number } = {}) {
    const connection = new Redis({ ...addressOf(redis.settings.url), ...options });
    onTestFinished(() => connection.disconnect());
    connection.on('error', () => undefined);
    await eventually(() => connection.status === 'ready');
    return connection;
  }

  it('sends every command through `sendCommand` (breaker.ts, command-counts.ts)', async () => {
    const connection = await connect();
    const names: string[] = [];
    const send = connection.sendCommand.bind(connection);
    connection.sendCommand = (command: Command, stream) => {
      names.push(command.name);
      return send(command, stream);
    };
    await connection.set('key', '1');
    await connection.eval('return 1', 0);
    await connection.pipeline().get('key').ping().exec();
    expect(names).toEqual(['set', 'eval', 'get', 'ping']);
  });

  it('rejects what `sendCommand` refuses without sending it (breaker.ts)', async () => {
    const connection = await connect();
    const send = connection.sendCommand.bind(connection);
    connection.sendCommand = (command: Command, stream) => {
      if (command.name !== 'set') return send(command, stream);
      command.reject(new Error('refused'));
      return command.promise;
    };
    await expect(connection.set('refused', '1')).rejects.toThrow('refused');
    expect(await connection.get('refused')).toBe(null);
  });

  it('writes each command as one text with `stream.write` (batch-writes.ts)', async () => {
    const connection = await connect();
    const { stream } = connection;
    const writes: unknown[][] = [];
    const write = stream.write.bind(stream) as (...given: unknown[]) => boolean;
    stream.write = ((...given: unknown[]) => {
      writes.push(given);
      return write(...given);
    }) as typeof stream.write;
    await connection.set('key', '1');
    expect(writes).toEqual([['*3\r\n$3\r\nset\r\n$3\r\nkey\r\n$1\r\n1\r\n']]);
  });

  it('has its stream at `connect`, and another one after a reconnect (batch-writes.ts, failover-watch.ts)', async () => {
    const connection = new Redis({ ...addressOf(redis.settings.url), retryStrategy: () => 1 });
    onTestFinished(() => connection.disconnect());
    connection.on('error', () => undefined);
    const streams: unknown[] = [];
    connection.on('connect', () => streams.push(connection.stream));
    await eventually(() => connection.status === 'ready');
    connection.stream.destroy();
    await eventually(() => streams.length === 2 && connection.status === 'ready');
    expect(streams[0]).not.toBe(streams[1]);
    expect(streams[1]).toBe(connection.stream);
  });

  it('runs a ScriptCommand and resolves its promise with the reply (script.ts)', async () => {
    const connection = await connect();
    const digest = (await connection.script('LOAD', SCRIPT)) as string;
    const command = new ScriptCommand(describeScript('name', digest), ['key'], ['ä', 2]);
    expect(await connection.sendCommand(command)).toEqual(['key', 'ä', '2']);
    expect(command.isSettled).toBe(true);
  });

  it('starts the timeout of a command with `setTimeout` and a fixed message (breaker.ts, script-command.ts)', async () => {
    const connection = await connect({ commandTimeout: 20 });
    const limits: number[] = [];
    class Observed extends ScriptCommand {
      override setTimeout(ms: number): void {
        limits.push(ms);
        super.setTimeout(ms);
      }
    }
    const [server] = redis.servers;
    const digest = (await connection.script('LOAD', SCRIPT)) as string;
    server?.signal('SIGSTOP');
    onTestFinished(() => server?.signal('SIGCONT'));
    const script = connection.sendCommand(new Observed(describeScript('name', digest), ['key'], ['1']));
    await expect(script).rejects.toThrow(TIMED_OUT);
    await expect(connection.get('key')).rejects.toThrow(TIMED_OUT);
    expect(limits).toEqual([20]);
  });
});

describe('a connection to a Cluster', () => {
  let redis: RedisUnderTest;
  let cluster: Cluster;
  const added: Redis[] = [];
  beforeAll(async () => {
    redis = await startCluster();
    cluster = new Cluster(redis.settings.clusterUrls.map(addressOf));
    cluster.on('+node', (server: Redis) => {
      added.push(server);
    });
    await eventually(() => cluster.status === 'ready');
  }, START_MS);
  afterAll(async () => {
    cluster.disconnect();
    await redis.stop();
  });

  it('emits `+node` with the connection of each server (breaker.ts, batch-writes.ts)', () => {
    expect(cluster.nodes('master').length).toBeGreaterThan(1);
    for (const server of cluster.nodes('all')) expect(added).toContain(server);
  });

  it('sends each command through `sendCommand` of its master (breaker.ts)', async () => {
    const keys: string[] = [];
    for (const server of cluster.nodes('master')) {
      const send = server.sendCommand.bind(server);
      server.sendCommand = (command: Command, stream) => {
        if (command.name === 'set') keys.push(String(command.args[0]));
        return send(command, stream);
      };
    }
    for (const key of ['a', 'b', 'c']) await cluster.set(key, '1');
    // A server that is not connected yet gets the same command a second time from its offline queue.
    expect([...new Set(keys)]).toEqual(['a', 'b', 'c']);
  });

  it('lists the address of the master of each hash slot in `slots` (run-for-many.ts)', () => {
    const masters = cluster.nodes('master').map(({ options }) => `${options.host}:${options.port}`);
    for (const slot of [0, 8_191, 16_383]) expect(masters).toContain(cluster.slots[slot]?.[0]);
  });

  it('refreshes its hash slots with a method that can be replaced (redis-connection.ts)', () => {
    expect(cluster.refreshSlotsCache).toBeTypeOf('function');
    expect(Object.isExtensible(cluster)).toBe(true);
  });
});
