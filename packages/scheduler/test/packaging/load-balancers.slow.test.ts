/** The samples of ops/load-balancers: sockets and a rolling restart behind each of them. */
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { storeSettings } from '../e2e/multi-instance/start-instances.ts';
import { freePort } from '../e2e/redis/free-port.ts';
import { ensureBuilt } from '../e2e/support/ensure-built.ts';
import { type LinguaProcess, lingua } from '../e2e/support/lingua.ts';
import { eventually } from '../support/eventually.ts';
import { startRedis } from '../support/redis-servers.ts';
import { LOAD_BALANCERS, startLoadBalancer } from './support/load-balancers.ts';
import { type Place, rollUnderLoad } from './support/roll-under-load.ts';

const SLOW_MS = 600_000;

beforeAll(ensureBuilt, SLOW_MS);

describe.each(LOAD_BALANCERS)('%s', (name) => {
  it(
    'loses and doubles no utterance while three instances restart one after the other',
    async () => {
      const redis = await startRedis();
      onTestFinished(() => redis.stop());
      const ports = [await freePort(), await freePort(), await freePort()];
      const places = ports.map((port): Place => {
        let child: LinguaProcess;
        const settings = { ...storeSettings(redis, 'behind'), 'server.port': port };
        return {
          async start() {
            child = lingua([
              'serve',
              ...Object.entries(settings).flatMap(([key, value]) => ['--set', `${key}=${value}`]),
            ]);
            const url = await child.url();
            await eventually(async () => (await fetch(`${url}/health/ready`)).status === 200);
          },
          async stop() {
            child.signal('SIGTERM');
            return (await child.ended).code;
          },
        };
      });
      for (const place of places) await place.start();
      const url = await startLoadBalancer(name, ports);
      const summary = await rollUnderLoad(url, places);
      expect(summary).toMatchObject({ lost: 0, doubled: 0, outOfOrder: 0, refusedBytes: 0 });
      // The sockets were moved, and by their sessions: nothing had to be said again.
      expect(summary.resumed).toBeGreaterThan(0);
      expect(summary.reopened).toBe(0);
    },
    SLOW_MS,
  );
});
