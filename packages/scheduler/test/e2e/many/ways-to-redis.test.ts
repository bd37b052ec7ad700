/** Instances reach Redis as a user with no more rights than the documentation says, and through Sentinels. Over TLS: ways-to-redis-tls.test.ts. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ROOT } from '../../architecture/source-files.ts';
import { eventually } from '../../support/eventually.ts';
import { startRedis } from '../../support/redis-servers.ts';
import { OUTPUT } from '../support/sdk-node.ts';
import { doJob } from './do-job.ts';
import { SHORT_PRESENCE } from './start-processes.ts';
import { startSentinel } from './start-sentinel.ts';

const TEST_MS = 120_000;

describe('instances do jobs together', () => {
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
    // Messages that nobody can handle, lists, and an instance that leaves: what is asked seldom is allowed as well.
    for (const path of ['/api/v1/cluster', '/api/v1/jobs', '/api/v1/nodes']) {
      expect([path, (await b.get(path)).status]).toEqual([path, 200]);
    }
    await b.app.stop();
    await eventually(async () => {
      const { body } = await a.get<{ instances: unknown[] }>('/api/v1/cluster');
      return body.instances.length === 1;
    });
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
      await eventually(async () => (await redis.masterPort()) !== before);
      for (const each of [a, b]) {
        const next = await eventually(() => each.dispatch());
        expect(await b.settled(next.job_id)).toMatchObject({ result: OUTPUT });
      }
    },
    TEST_MS,
  );
});
