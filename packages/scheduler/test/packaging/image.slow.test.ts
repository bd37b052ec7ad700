/** The image: built offline by its script, looked into, and three containers of it on one Redis, of which one is stopped. */
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { storeSettings } from '../e2e/multi-instance/start-instances.ts';
import { freePort } from '../e2e/redis/free-port.ts';
import { ensureBuilt } from '../e2e/support/ensure-built.ts';
import { eventually } from '../support/eventually.ts';
import { startRedis } from '../support/redis-servers.ts';
import { startLoadBalancer } from './support/load-balancers.ts';
import { type Container, type Image, makeImage } from './support/podman.ts';
import { type Place, rollUnderLoad } from './support/roll-under-load.ts';
import { valuesOf } from './support/systemd-unit.ts';

const SLOW_MS = 900_000;
let image: Image;

beforeAll(async () => {
  await ensureBuilt();
  image = await makeImage();
}, SLOW_MS);
afterAll(() => image.remove());

it('it runs the command as the unit does, as a user without rights, and says what it is', async () => {
  const [inUnit = ''] = valuesOf('ExecStart');
  const flags = inUnit.split(' ').filter((part) => part.includes('semi-space'));
  expect(await image.inspect()).toMatchObject({
    Os: 'linux',
    Config: {
      User: '10001:10001',
      Entrypoint: ['/usr/bin/node', ...flags, '/app/node_modules/@lingua/scheduler/bin/lingua.js'],
      Cmd: ['serve'],
      WorkingDir: '/etc/lingua',
      StopSignal: 'SIGTERM',
      Labels: {
        'org.opencontainers.image.licenses': 'Apache-2.0',
        'org.opencontainers.image.version': expect.stringMatching(/^\d+\.\d+\.\d+$/),
        'org.opencontainers.image.revision': expect.stringMatching(/^[0-9a-f]{40}$/),
      },
    },
  });
});

it('it contains Node.js, what that loads and licences: no shell, no package manager, no file with special rights', async () => {
  const lines = await image.files();
  const names = lines.map((line) => line.replace(/^(\S+\s+){5}/, '').replace(/ (->|link to) .*/, ''));
  const programs = names.filter((name) => /(^|\/)s?bin\/[^/]/.test(name) && !name.startsWith('app/'));
  expect(programs).toEqual(['usr/bin/node']);
  expect(names.filter((name) => /(^|\/)(apt|dpkg)(\/|$)/.test(name))).toEqual([]);
  // Set user or group id.
  expect(lines.filter((line) => /^-\S*s/.test(line))).toEqual([]);
  expect(names).toEqual(
    expect.arrayContaining([
      'app/LICENSE',
      'app/node_modules/@lingua/scheduler/THIRD-PARTY-NOTICES.txt',
      'usr/share/doc/node/LICENSE',
      'usr/share/doc/libc6/copyright',
    ]),
  );
});

it(
  'a container with a wrong configuration ends with 2 and says what is wrong',
  async () => {
    const { code, printed } = await image.ending({ LINGUA_SERVER__PORT: 'front' });
    expect(printed).toContain('server.port');
    expect(code).toBe(2);
  },
  SLOW_MS,
);

it(
  'three containers share one Redis, and sessions lose nothing while one is stopped',
  async () => {
    const redis = await startRedis();
    onTestFinished(() => redis.stop());
    const store = Object.entries(storeSettings(redis, 'contained')).map(([key, value]) => [
      `LINGUA_${key.toUpperCase().replaceAll('.', '__')}`,
      String(value),
    ]);
    const ports = [await freePort(), await freePort(), await freePort()];
    const containers: Container[] = [];
    const places = ports.map((port, at): Place => {
      const env = { ...Object.fromEntries(store), LINGUA_SERVER__PORT: String(port) };
      return {
        async start() {
          containers[at] = await image.start(`one-of-three-${at}`, env);
          await eventually(async () => (await fetch(`http://127.0.0.1:${port}/health/ready`)).status === 200);
        },
        stop: async () => (await containers[at]?.stop()) ?? null,
      };
    });
    for (const place of places) await place.start();
    for (const container of containers) {
      const status = await readFile(`/proc/${await container.pid()}/status`, 'utf8');
      expect(status).toMatch(/^Uid:\s10001\s/m);
      expect(status).toMatch(/^CapEff:\s0+$/m);
      expect(await container.isHealthy()).toBe(true);
    }
    const url = await startLoadBalancer('haproxy', ports);
    const summary = await rollUnderLoad(url, places.slice(0, 1));
    expect(summary).toMatchObject({ lost: 0, doubled: 0, outOfOrder: 0, refusedBytes: 0 });
    for (const each of places) expect(await each.stop()).toBe(0);
  },
  SLOW_MS,
);
