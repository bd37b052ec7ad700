/** A replica with eviction that becomes master later is reported to operators; instances continue. */
import { Redis } from 'ioredis';
import { expect, it, onTestFinished } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { startInstance } from '../multi-instance/start-instances.ts';
import { startSentinel } from './start-sentinel.ts';

const TEST_MS = 120_000;

it(
  'a new master that evicts keys is shown in log, metrics and page',
  async () => {
    const redis = await startSentinel();
    const instance = await startInstance(redis, 'unfit', {
      'scheduler.cluster.redis.sentinel_urls': redis.settings.sentinelUrls.join(','),
    });
    const gauge = async () =>
      /^scheduler_store_unfit_servers (\d+)/m.exec((await instance.get<string>('/metrics')).body)?.[1];
    expect(await gauge()).toBe('0');
    const replica = new Redis({ port: redis.replica.port, maxRetriesPerRequest: null });
    replica.on('error', () => {});
    onTestFinished(() => replica.disconnect());
    await replica.config('SET', 'maxmemory-policy', 'allkeys-lru');
    redis.master.signal('SIGKILL');

    const received = `Redis 127.0.0.1:${redis.replica.port} has maxmemory-policy allkeys-lru`;
    await eventually(async () => {
      const { body } = await instance.get<{ warnings: string[] }>('/api/v1/cluster');
      return body.warnings.some((warning) => warning.startsWith(received));
    });
    expect(await gauge()).toBe('1');
    const lines = instance.log.map((line) => JSON.parse(line) as { level: number | string; msg: string });
    const errors = lines.filter(({ msg }) => msg.startsWith(received));
    expect(errors).toEqual([expect.objectContaining({ level: expect.toSatisfy(isError) })]);
    expect(errors[0]?.msg).toContain('CONFIG SET maxmemory-policy noeviction');
    expect((await instance.get('/health/ready')).status).toBe(200);
  },
  TEST_MS,
);

const isError = (level: number | string): boolean => level === 50 || level === 'error';
