/**
 * Two instances of the earlier release on one Redis, run as the unit runs them, are upgraded one after the other to this build, and back,
 * while nodes and people of the earlier release use them.
 */
import { chmod, chown, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { nodeRuntime } from '../../../../scripts/node-runtimes.mjs';
import { storeSettings } from '../e2e/multi-instance/start-instances.ts';
import { freePort } from '../e2e/redis/free-port.ts';
import { eventually } from '../support/eventually.ts';
import { startRedis } from '../support/redis-servers.ts';
import { startLoadBalancer } from './support/load-balancers.ts';
import { earlierTarballs, type Installation, installPackages } from './support/packed.ts';
import { type Place, rollUnderLoad } from './support/roll-under-load.ts';
import { prepareEtc, type ServiceProcess, startService } from './support/systemd-unit.ts';

const SLOW_MS = 900_000;
let earlier: Installation;
let present: Installation;

beforeAll(async () => {
  earlier = await installPackages(await earlierTarballs());
  present = await installPackages();
  for (const { folder } of [earlier, present]) await chmod(folder, 0o755);
}, SLOW_MS);
afterAll(async () => {
  await earlier.remove();
  await present.remove();
});

it(
  'an upgrade and the way back lose and double nothing',
  async () => {
    const redis = await startRedis();
    onTestFinished(() => redis.stop());
    const ports = [await freePort(), await freePort()];
    const places = await Promise.all(
      ports.map((port) => createPlace({ ...storeSettings(redis, 'rolled'), 'server.port': port })),
    );
    for (const place of places) await place.start();
    const url = await startLoadBalancer('haproxy', ports);
    const program = join(earlier.folder, 'node_modules/@lingua/scheduler/bin/lingua.js');
    const summary = await rollUnderLoad(url, [...places, ...places], program);
    expect(summary).toMatchObject({ lost: 0, doubled: 0, outOfOrder: 0, refusedBytes: 0 });
    expect([summary.resumed > 0, summary.reopened]).toEqual([true, 0]);
  },
  SLOW_MS,
);

/** Started with the earlier release, then with this build, then with the earlier release again. */
async function createPlace(settings: Readonly<Record<string, unknown>>): Promise<Place> {
  const root = await mkdtemp(join(tmpdir(), 'lingua-rolled-'));
  onTestFinished(() => rm(root, { recursive: true, force: true }));
  await chmod(root, 0o755);
  const lines = Object.entries(settings).map(([key, value]) => `${key} = ${JSON.stringify(value)}\n`);
  const account = await prepareEtc(root, lines.join(''));
  const state = join(root, 'state');
  await mkdir(state);
  await chown(state, account.uid, account.gid);
  const builds = [earlier, present, earlier];
  let starts = 0;
  let service: ServiceProcess | undefined;
  return {
    async start() {
      const installed = builds[starts++]?.folder ?? '';
      const started = startService({ installed, root, account, state, node: nodeRuntime(22) });
      service = started;
      onTestFinished(started.kill);
      const url = await started.url();
      await eventually(async () => (await fetch(`${url}/health/ready`)).status === 200);
    },
    async stop() {
      process.kill((await service?.pid()) ?? 0, 'SIGTERM');
      return (await service?.ended) ?? null;
    },
  };
}
