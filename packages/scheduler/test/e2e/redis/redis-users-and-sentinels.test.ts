/** Instances reach Redis as a user with the documented rights, and through Sentinels. Over TLS: redis-over-tls.test.ts. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ROOT } from '../../architecture/source-files.ts';
import { eventually } from '../../support/eventually.ts';
import { startRedis } from '../../support/redis-servers.ts';
import { doJob } from '../multi-instance/do-job.ts';
import { SHORT_PRESENCE } from '../multi-instance/start-processes.ts';
import { OUTPUT } from '../support/sdk-node.ts';
import { startSentinel } from './start-sentinel.ts';

const TEST_MS = 120_000;

describe('instances share jobs', () => {
  it('as a user with exactly the documented rights', async () => {
    const redis = await startRedis();
    onTestFinished(() => redis.stop());
    const client = new Redis(redis.settings.url);
    onTestFinished(() => client.disconnect());
    const text = await readFile(join(ROOT, 'docs/operations.md'), 'utf8');
    const line = /^ACL SETUSER lingua .*$/m.exec(text)?.[0] ?? '';
    await client.call('ACL', 'SETUSER', ...line.split(' ').slice(2));
    const user = {
      ...SHORT_PRESENCE,
      'scheduler.cluster.redis.username': 'lingua',
      'scheduler.cluster.redis.password': 'secret',
    };
    const [a, b] = await doJob(redis, 'lingua', user);
    // Dead letters, lists and an instance that leaves: rare commands are allowed, too.
    for (const path of ['/api/v1/cluster', '/api/v1/jobs', '/api/v1/nodes']) {
      expect([path, (await b.get(path)).status]).toEqual([path, 200]);
    }
    await b.app.stop();
    await eventually(async () => {
      const { body } = await a.get<{ instances: unknown[] }>('/api/v1/cluster');
      return body.instances.length === 1;
    });
    const refused = (await client.call('ACL', 'LOG')) as string[][];
    // Before version 7 this name means all of CLIENT: setting the library name of a connection is refused there.
    expect(refused.filter((entry) => entry[entry.indexOf('object') + 1] !== 'client')).toEqual([]);
    const complaints = [...a.log, ...b.log].filter((entry) => entry.includes('NOPERM'));
    expect(complaints).toEqual([]);
    // Keys of other prefixes are refused.
    const stranger = new Redis(redis.settings.url, { username: 'lingua', password: 'secret' });
    onTestFinished(() => stranger.disconnect());
    await expect(stranger.get('others:key')).rejects.toThrow('NOPERM');
    await expect(stranger.flushall()).rejects.toThrow('NOPERM');
  });

  it(
    'through Sentinels, also after they replaced the master',
    async () => {
      const redis = await startSentinel();
      const [a, b] = await doJob(redis, 'sentinel', {
        'scheduler.cluster.redis.sentinel_urls': redis.settings.sentinelUrls.join(','),
        'scheduler.cluster.redis.sentinel_name': redis.settings.sentinelName,
      });
      const before = await redis.masterPort();
      redis.master.signal('SIGKILL');
      await eventually(async () => (await redis.masterPort()) !== before);
      for (const each of [a, b]) {
        const next = await eventually(() => each.dispatch());
        expect(await b.settled(next.job_id)).toMatchObject({ result: OUTPUT });
      }
    },
    TEST_MS,
  );
});
