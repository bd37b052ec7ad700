/** Instances reach Redis over TLS, as a user with no more rights than the documentation says, and through Sentinels. */
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Redis } from 'ioredis';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ROOT } from '../../architecture/source-files.ts';
import { eventually } from '../../support/eventually.ts';
import { type RedisUnderTest, startRedis } from '../../support/redis-servers.ts';
import { joinSdkNode, OUTPUT } from '../support/sdk-node.ts';
import type { Settings } from '../support/start-app.ts';
import { freePort } from './free-port.ts';
import { type Instance, startInstance } from './start-instances.ts';
import { SHORT_PRESENCE } from './start-processes.ts';
import { startSentinel } from './start-sentinel.ts';

const TEST_MS = 40_000;
const PATIENT = { withinMs: 15_000 };

/** A node on the one, a job from the other, read where it was not driven. */
async function doJob(
  redis: RedisUnderTest,
  prefix: string,
  settings: Settings,
): Promise<[Instance, Instance]> {
  const a = await startInstance(redis, prefix, settings);
  const b = await startInstance(redis, prefix, settings);
  await joinSdkNode({ url: a.nodeUrl, nodeId: 'node-a', onJob: async () => OUTPUT });
  await b.readyNodes(1);
  const job = await b.dispatch({ request_id: 'over-there' });
  expect(await a.settled(job.job_id)).toMatchObject({ result: OUTPUT });
  return [a, b];
}

async function certify(): Promise<{ key: string; certificate: string }> {
  const folder = await mkdtemp(join(tmpdir(), 'lingua-tls-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const [key, certificate] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  const subject = ['-subj', '/CN=redis.test', '-addext', 'subjectAltName=IP:127.0.0.1', '-days', '2'];
  const files = ['-keyout', key, '-out', certificate];
  await promisify(execFile)('openssl', [
    'req',
    '-x509',
    '-newkey',
    'rsa:2048',
    '-nodes',
    ...subject,
    ...files,
  ]);
  return { key, certificate };
}

describe('instances do jobs together', () => {
  it('over TLS, and only with a server whose certificate they were told to trust', async () => {
    const { key, certificate } = await certify();
    const port = await freePort();
    const redis = await startRedis([
      ...['--tls-port', String(port), '--tls-auth-clients', 'no'],
      ...['--tls-cert-file', certificate, '--tls-key-file', key, '--tls-ca-cert-file', certificate],
    ]);
    onTestFinished(() => redis.stop());
    const secured = { 'scheduler.phase2.redis.url': `rediss://127.0.0.1:${port}` };
    await doJob(redis, 'tls', { ...secured, 'scheduler.phase2.redis.tls_ca_file': certificate });
    const client = new Redis(redis.settings.url);
    onTestFinished(() => client.disconnect());
    const ports = String(await client.client('LIST')).match(/laddr=127\.0\.0\.1:\d+ .*name=lingua/g) ?? [];
    expect(ports.length).toBeGreaterThan(0);
    expect(ports.every((line) => line.startsWith(`laddr=127.0.0.1:${port} `))).toBe(true);
    await expect(
      startInstance(redis, 'tls', { ...secured, 'scheduler.phase2.redis.connect_timeout_ms': 200 }),
    ).rejects.toThrow(/self-signed certificate/);
  });

  it('as a user with the rights that the documentation names, and no more', async () => {
    const redis = await startRedis();
    onTestFinished(() => redis.stop());
    const client = new Redis(redis.settings.url);
    onTestFinished(() => client.disconnect());
    const text = await readFile(join(ROOT, 'docs/operations.md'), 'utf8');
    const line = /^ACL SETUSER lingua .*$/m.exec(text)?.[0] ?? '';
    await client.call('ACL', 'SETUSER', ...line.split(' ').slice(2));
    const user = {
      ...SHORT_PRESENCE,
      'scheduler.phase2.redis.username': 'lingua',
      'scheduler.phase2.redis.password': 'secret',
    };
    const [a, b] = await doJob(redis, 'lingua', user);
    // Letters that nobody can handle, lists, and an instance that leaves: what is asked seldom is allowed as well.
    for (const path of ['/api/v1/cluster', '/api/v1/jobs', '/api/v1/nodes']) {
      expect([path, (await b.get(path)).status]).toEqual([path, 200]);
    }
    await b.app.stop();
    await eventually(async () => {
      const { body } = await a.get<{ instances: unknown[] }>('/api/v1/cluster');
      return body.instances.length === 1;
    }, PATIENT);
    const refused = (await client.call('ACL', 'LOG')) as string[][];
    // Before version 7 what is named so is all of CLIENT: that a connection says which library it is of goes unheard there.
    expect(refused.filter((entry) => entry[entry.indexOf('object') + 1] !== 'client')).toEqual([]);
    const complaints = [...a.log, ...b.log].filter((entry) => entry.includes('NOPERM'));
    expect(complaints).toEqual([]);
    // Its keys are not those of others.
    const stranger = new Redis(redis.settings.url, { username: 'lingua', password: 'secret' });
    onTestFinished(() => stranger.disconnect());
    await expect(stranger.get('others:key')).rejects.toThrow('NOPERM');
    await expect(stranger.flushall()).rejects.toThrow('NOPERM');
  });

  it(
    'through Sentinels, and go on when these have replaced the master',
    async () => {
      const redis = await startSentinel();
      const [a, b] = await doJob(redis, 'sentinel', {
        'scheduler.phase2.redis.sentinel_urls': redis.settings.sentinelUrls.join(','),
        'scheduler.phase2.redis.sentinel_name': redis.settings.sentinelName,
      });
      const before = await redis.masterPort();
      redis.master.signal('SIGKILL');
      await eventually(async () => (await redis.masterPort()) !== before, PATIENT);
      for (const each of [a, b]) {
        const next = await eventually(() => each.dispatch(), PATIENT);
        expect(await b.settled(next.job_id)).toMatchObject({ result: OUTPUT });
      }
    },
    TEST_MS,
  );
});
