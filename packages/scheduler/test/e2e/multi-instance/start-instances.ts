/** Several instances in this process on one real store, each on its own port. They stop with the test that started them. */
import { onTestFinished } from 'vitest';
import { systemClock } from '../../../src/adapters/system/clock.ts';
import { createLog } from '../../../src/adapters/system/log.ts';
import { type App, createApp } from '../../../src/app/create-app.ts';
import { openSharedStore, type SharedStore } from '../../../src/app/redis-store.ts';
import { type RedisUnderTest, startRedis } from '../../support/redis-servers.ts';
import { configOf, createClient, type RunningApp, type Settings } from '../support/start-app.ts';

export interface Instance extends RunningApp {
  readonly instanceId: string;
}

/** Limits that nest, and that a busy machine does not exceed: only a server or node without answers does. */
const PATIENT: Settings = {
  'scheduler.cluster.redis.connect_timeout_ms': 10_000,
  'scheduler.cluster.redis.command_timeout_ms': 5_000,
  'scheduler.cluster.redis.socket_timeout_ms': 10_000,
  'scheduler.reserve_timeout_ms': 5_000,
  'scheduler.ack_timeout_ms': 10_000,
  'scheduler.reservation_ttl_ms': 15_000,
};

/** For tests in which Redis does not answer: as PATIENT, but an instance notices it sooner. */
export const NOTICES_OUTAGES: Settings = {
  'scheduler.cluster.redis.command_timeout_ms': 1_500,
  'scheduler.cluster.redis.socket_timeout_ms': 3_000,
  'scheduler.reserve_timeout_ms': 1_500,
};

/** The store of a test, in the names of the configuration. */
export function storeSettings({ settings }: RedisUnderTest, prefix: string): Settings {
  return {
    ...PATIENT,
    'scheduler.cluster.enabled': true,
    'scheduler.cluster.redis.mode': settings.mode,
    'scheduler.cluster.redis.url': settings.url,
    ...(settings.clusterUrls.length > 0 && {
      'scheduler.cluster.redis.cluster_urls': settings.clusterUrls.join(','),
    }),
    'scheduler.cluster.redis.key_prefix': prefix,
  };
}

let started = 0;

export async function startInstance(
  redis: RedisUnderTest,
  prefix: string,
  settings: Settings = {},
  toml = '',
  wrap = (store: SharedStore): SharedStore => store,
): Promise<Instance> {
  started += 1;
  const instanceId = `instance-${started}`;
  const log: string[] = [];
  const config = configOf(
    {
      ...storeSettings(redis, prefix),
      'scheduler.cluster.instance_id': instanceId,
      ...settings,
    },
    toml,
  );
  const logger = createLog('debug', { destination: { write: (line) => log.push(line) } });
  const shared = wrap(await openSharedStore({ config, clock: systemClock, log: logger }));
  const app: App = createApp({ config, log: logger, shared });
  const { address, port } = await app.start();
  onTestFinished(() => app.stop());
  return {
    app,
    log,
    instanceId,
    nodeUrl: `ws://${address}:${port}/ws/node`,
    ...createClient(`http://${address}:${port}`),
  };
}

export async function startInstances(
  count: number,
  settings: Settings = {},
  toml = '',
  start: () => Promise<RedisUnderTest> = startRedis,
): Promise<{
  redis: RedisUnderTest;
  prefix: string;
  instances: Instance[];
}> {
  const redis = await start();
  onTestFinished(() => redis.stop());
  const prefix = `test-${started}`;
  const instances: Instance[] = [];
  for (let at = 0; at < count; at += 1) instances.push(await startInstance(redis, prefix, settings, toml));
  return { redis, prefix, instances };
}
