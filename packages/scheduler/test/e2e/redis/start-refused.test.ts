/** An instance that cannot join exits with an error code and one line with the cause and the remedy. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { runServe } from '../../../src/cli/commands/serve.ts';
import { ROOT } from '../../architecture/source-files.ts';
import { createTerminal } from '../../cli/terminal.ts';
import { eventually } from '../../support/eventually.ts';
import { type RedisUnderTest, startRedis } from '../../support/redis-servers.ts';
import { startInstance, storeSettings } from '../multi-instance/start-instances.ts';
import { SHORT_PRESENCE } from '../multi-instance/start-processes.ts';
import type { Settings } from '../support/start-app.ts';

/** How long an instance tries to reach a Redis that is away. */
const IMPATIENT: Settings = {
  'scheduler.cluster.redis.connect_timeout_ms': 200,
  'scheduler.cluster.redis.command_timeout_ms': 200,
  'scheduler.cluster.redis.socket_timeout_ms': 300,
};
const QUICK: Settings = {
  'server.port': 0,
  'log.level': 'fatal',
  ...SHORT_PRESENCE,
};

let redis: RedisUnderTest;
let client: Redis;
beforeAll(async () => {
  redis = await startRedis();
  client = new Redis(redis.settings.url);
});
afterAll(async () => {
  client.disconnect();
  await redis.stop();
});

async function serve(settings: Settings, prefix = 'refused'): Promise<{ code: number; line: string }> {
  const terminal = createTerminal();
  const all = Object.entries({ ...QUICK, ...storeSettings(redis, prefix), ...settings });
  const code = await runServe(
    all.flatMap(([key, value]) => ['--set', `${key}=${value}`]),
    terminal,
  );
  expect(terminal.errors).toEqual([expect.any(String)]);
  return { code, line: terminal.errors[0] ?? '' };
}

async function documentedRights(): Promise<string> {
  const text = await readFile(join(ROOT, 'docs/operations.md'), 'utf8');
  return /^ACL SETUSER lingua (.*)$/m.exec(text)?.[1] ?? '';
}

describe('an instance does not start', () => {
  it('on a Redis that holds keys of another schema version', async () => {
    await client.set('elder:schema', '9');
    const { code, line } = await serve({}, 'elder');
    expect(code).toBe(1);
    expect(line).toContain('schema version "9" under elder:schema, and this is version 1');
    expect(line).toContain('scheduler.cluster.redis.key_prefix');
  });

  it('on a Redis that may evict keys', async () => {
    await client.config('SET', 'maxmemory-policy', 'allkeys-lru');
    const { code, line } = await serve({});
    await client.config('SET', 'maxmemory-policy', 'noeviction');
    expect(code).toBe(1);
    expect(line).toContain('maxmemory-policy allkeys-lru');
    expect(line).toContain('CONFIG SET maxmemory-policy noeviction');
  });

  it.each([
    ['a replica', ['--replicaof', '127.0.0.1', '1'], 'is a replica and takes no writes'],
    [
      'a member of a Cluster, in mode single',
      ['--cluster-enabled', 'yes'],
      'is part of a Cluster. Set scheduler.cluster.redis.mode = "cluster"',
    ],
  ])('on %s', async (_, flags, why) => {
    const other = await startRedis(flags);
    onTestFinished(() => other.stop());
    const { code, line } = await serve({ 'scheduler.cluster.redis.url': other.settings.url });
    expect(code).toBe(1);
    expect(line).toContain(why);
  });

  it.each([
    ['a wrong password', { 'scheduler.cluster.redis.password': 'guessed' }, 'WRONGPASS'],
    ['no password where one is needed', {}, 'NOAUTH'],
    [
      'a user that does not exist',
      { 'scheduler.cluster.redis.username': 'nobody', 'scheduler.cluster.redis.password': 'secret' },
      'WRONGPASS',
    ],
  ])('with %s, and does not retry until the timeout', async (_, settings, word) => {
    await client.config('SET', 'requirepass', 'secret');
    const { code, line } = await serve(settings);
    await client.config('SET', 'requirepass', '');
    expect(code).toBe(1);
    expect(line).toContain('check scheduler.cluster.redis.username and scheduler.cluster.redis.password');
    expect(line).toContain(word);
    expect(line).not.toContain('guessed');
    expect(line).not.toContain('was not reached');
  });

  it.each([
    ['no-pubsub', '-@pubsub', 'publish or subscribe'],
    ['no-publish', '-publish -spublish', 'publish'],
    ['no-subscribe', '-subscribe -ssubscribe', 'subscribe'],
    ['other-channels', 'resetchannels &others:*', 'use its channels'],
  ])('as the user %s with %s, who cannot %s, and prints the remedy', async (name, lacks) => {
    const rights = (await documentedRights()).replaceAll('lingua:', `${name}:`).split(' ');
    await client.call('ACL', 'SETUSER', name, ...rights, ...lacks.split(' '));
    const user = { 'scheduler.cluster.redis.username': name, 'scheduler.cluster.redis.password': 'secret' };
    const { code, line } = await serve(user, name);
    expect(code).toBe(1);
    expect(line).toContain(`does not let the user ${name} publish and subscribe on the channels ${name}:*`);
    const remedy = `ACL SETUSER ${name} resetchannels &${name}:* +@pubsub`;
    expect(line).toContain(remedy);
    expect(await client.keys(`${name}:*`)).toEqual([]);
    await client.call('ACL', ...remedy.split(' ').slice(1));
    await startInstance(redis, name, { ...SHORT_PRESENCE, ...user });
  });

  it('with a key that cannot be read', async () => {
    const { code, line } = await serve({
      'scheduler.cluster.redis.tls': true,
      'scheduler.cluster.redis.tls_cert_file': '/nowhere/cert.pem',
      'scheduler.cluster.redis.tls_key_file': '/nowhere/key.pem',
    });
    expect(code).toBe(1);
    expect(line).toContain('scheduler.cluster.redis.tls_cert_file cannot be read: ENOENT');
  });

  it('without a Redis', async () => {
    const { code, line } = await serve({
      ...IMPATIENT,
      'scheduler.cluster.redis.url': 'redis://127.0.0.1:1',
    });
    expect(code).toBe(1);
    expect(line).toContain('Redis was not reached within 500 ms: connect ECONNREFUSED 127.0.0.1:1');
  });

  it('on a Redis that has stopped answering', async () => {
    const [server] = redis.servers;
    server?.signal('SIGSTOP');
    const { code, line } = await serve(IMPATIENT);
    server?.signal('SIGCONT');
    expect(code).toBe(1);
    expect(line).toContain('Redis was not reached within 500 ms');
  });

  it('under the name of a living instance, which is not affected', async () => {
    const living = await startInstance(redis, 'refused', SHORT_PRESENCE);
    const { code, line } = await serve({ 'scheduler.cluster.instance_id': living.instanceId });
    expect(code).toBe(1);
    expect(line).toContain(`another living instance has the name ${living.instanceId}`);
    expect(line).toContain('scheduler.cluster.instance_id');
    expect((await living.get('/health/ready')).status).toBe(200);
    const { body } = await living.get<{ instances: unknown[] }>('/api/v1/cluster');
    expect(body.instances).toHaveLength(1);
  });

  it('without an address for other instances, and leaves no keys', async () => {
    const { code, line } = await serve(
      {
        'server.host': '0.0.0.0',
        'server.anonymous': 'session,node',
        'server.trusted_networks': '10.0.0.0/8',
      },
      'unreachable',
    );
    expect(code).toBe(1);
    expect(line).toContain('server.advertise_url');
    await eventually(async () =>
      (await client.keys('unreachable:*')).every((key) => key.endsWith(':schema')),
    );
  });

  it('if its name cannot be announced, and leaves no inbox', async () => {
    await client.set('nameless:schedulers:all', 'not a set');
    const { code, line } = await serve({}, 'nameless');
    expect(code).toBe(1);
    expect(line).toContain('announcing an instance');
    expect(await client.keys('nameless:streams:*')).toEqual([]);
  });
});
