/** Instances as processes on one store, to be killed and frozen. They end with the test that started them. */

import { onTestFinished } from 'vitest';
import { createBalancer } from '../../../../../proof/src/chaos/wire/balancer.ts';
import { type RedisUnderTest, startRedis } from '../../support/redis-servers.ts';
import { type LinguaProcess, lingua } from '../support/lingua.ts';
import { createClient, type RunningApp, type Settings } from '../support/start-app.ts';
import { storeSettings } from './start-instances.ts';

export interface InstanceProcess extends Omit<RunningApp, 'app' | 'log'> {
  readonly instanceId: string;
  readonly process: LinguaProcess;
  /** By SIGKILL. */
  kill(): Promise<void>;
}

/** As short as presence may be on a busy machine: a frozen test machine must not lead to declared deaths. */
export const SHORT_PRESENCE: Settings = { 'scheduler.heartbeat_interval_seconds': 1 };

export async function startProcess(
  redis: RedisUnderTest,
  prefix: string,
  instanceId: string,
  settings: Settings = {},
): Promise<InstanceProcess> {
  const all: Settings = {
    ...storeSettings(redis, prefix),
    'scheduler.cluster.instance_id': instanceId,
    'scheduler.fleet_warmup_ms': 0,
    'server.port': 0,
    ...SHORT_PRESENCE,
    ...settings,
  };
  const flags = Object.entries(all).flatMap(([key, value]) => ['--set', `${key}=${value}`]);
  const child = lingua(['serve', ...flags]);
  const url = await child.url();
  return {
    instanceId,
    process: child,
    nodeUrl: `${url.replace('http', 'ws')}/ws/node`,
    ...createClient(url),
    async kill() {
      child.signal('SIGKILL');
      await child.ended;
    },
  };
}

/** Three instances on one Redis. Clients connect to the first one while it accepts them, then to the next. */
export async function startBehindBalancer(prefix: string) {
  const redis = await startRedis();
  onTestFinished(() => redis.stop());
  const start = (name: string) => startProcess(redis, prefix, name);
  const instances: InstanceProcess[] = [await start('a'), await start('b'), await start('c')];
  const [first, ...others] = instances as [InstanceProcess, InstanceProcess, InstanceProcess];
  const balancer = await createBalancer({
    backends: () =>
      instances.map(({ instanceId, url }) => ({ instance: instanceId, port: Number(new URL(url).port) })),
  });
  onTestFinished(balancer.close);
  return { first, others, url: `ws://127.0.0.1:${balancer.port}/ws/session` };
}
