/** ops/compose as data: what it mounts exists, its settings load, and its parts name the same addresses. */
import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { parse } from 'yaml';
import { ROOT } from '../architecture/source-files.ts';
import { loaded } from '../config/loaded.ts';
import { ALERTS } from './ops-files.ts';
import { promtool } from './promtool.ts';

interface Service {
  readonly image: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly volumes?: readonly string[];
  readonly stop_grace_period?: string;
  readonly read_only?: boolean;
  readonly networks: Readonly<Record<string, { readonly ipv4_address: string }>> | readonly string[];
}

const FOLDER = join(ROOT, 'ops/compose');
const PROMETHEUS = join(FOLDER, 'prometheus.yml');
const INSTANCES = ['one', 'two', 'three'];
/** Variables as compose replaces them; the tokens are required, the image has a default. */
const text = readFileSync(join(FOLDER, 'compose.yaml'), 'utf8')
  .replaceAll(/\$\{(\w+):\?[^}]*\}/g, 'a-$1-of-a-test')
  .replaceAll(/\$\{\w+:-([^}]*)\}/g, '$1');
const { services, volumes } = parse(text, { merge: true }) as {
  readonly services: Readonly<Record<string, Service>>;
  readonly volumes: object;
};
const addressOf = (name: string): string => {
  const networks = services[name]?.networks ?? {};
  return 'lingua' in networks ? networks.lingua.ipv4_address : '';
};
const settingsOf = (name: string) =>
  loaded({ env: services[name]?.environment as Readonly<Record<string, string>> });

it('every file and folder that it mounts exists', () => {
  const mounted = Object.values(services).flatMap(({ volumes: all = [] }) =>
    all.map((each) => each.split(':')),
  );
  expect(mounted.length).toBeGreaterThan(5);
  for (const [from = ''] of mounted)
    expect([from, from.startsWith('.') ? existsSync(join(FOLDER, from)) : from in volumes]).toEqual([
      from,
      true,
    ]);
});

it.each(INSTANCES)('the settings of instance %s load without a warning, and it may drain', (name) => {
  const { config, warnings } = settingsOf(name);
  expect(warnings).toEqual([]);
  expect(config.server.advertise_url).toBe(`http://${addressOf(name)}:${config.server.port}`);
  expect(config.scheduler.cluster.redis.url).toBe(`redis://${addressOf('redis')}:6379`);
  expect(config.server.trusted_proxies).toEqual([`${addressOf('haproxy')}/32`]);
  expect(config.server.tokens.map(({ role }) => role)).toEqual(['operator', 'node', 'client', 'metrics']);
  expect(Number.parseInt(services[name]?.stop_grace_period ?? '', 10) * 1_000).toBeGreaterThan(
    config.server.drain_timeout_ms,
  );
  expect(services[name]?.read_only).toBe(true);
});

it('HAProxy and Prometheus name the addresses of the instances', () => {
  const haproxy = readFileSync(join(ROOT, 'ops/load-balancers/haproxy.cfg'), 'utf8');
  const wanted = INSTANCES.map((name) => `${addressOf(name)}:5010`);
  expect([...haproxy.matchAll(/^ {2}server \w+ (\S+)$/gm)].map(([, address]) => address)).toEqual(wanted);
  expect([...readFileSync(PROMETHEUS, 'utf8').matchAll(/'([\d.]+:5010)'/g)].map(([, each]) => each)).toEqual(
    wanted,
  );
});

it('Prometheus accepts its configuration', () => {
  const folder = mkdtempSync(join(tmpdir(), 'lingua-compose-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  copyFileSync(PROMETHEUS, join(folder, 'prometheus.yml'));
  copyFileSync(ALERTS, join(folder, 'alerts.yml'));
  // The file with the token is made when the container starts.
  const { said } = promtool('check', 'config', '--syntax-only', join(folder, 'prometheus.yml'));
  expect(said).toContain('is valid prometheus config file syntax');
});

it('every image has a version', () => {
  const images = Object.values(services).map(({ image }) => image);
  expect(images.filter((image) => !/:v?\d+\.\d+/.test(image))).toEqual([]);
});
