/** The samples of ops/load-balancers, started in front of instances of a test: only the addresses are replaced. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { ROOT } from '../../architecture/source-files.ts';
import { freePort } from '../../e2e/redis/free-port.ts';
import { eventually } from '../../support/eventually.ts';

const FOLDER = join(ROOT, 'ops/load-balancers');
const SAMPLED = [11, 12, 13].map((host) => `10.83.0.${host}:5010`);
const COMMANDS = {
  haproxy: { file: 'haproxy.cfg', run: (file: string) => ['haproxy', '-db', '-f', file] },
  nginx: {
    file: 'nginx.conf',
    run: (file: string) => ['nginx', '-c', file, '-g', `daemon off; error_log stderr; pid ${file}.pid;`],
  },
  caddy: {
    file: 'Caddyfile',
    run: (file: string) => ['caddy', 'run', '--config', file, '--adapter', 'caddyfile'],
  },
} as const;

export type LoadBalancer = keyof typeof COMMANDS;
export const LOAD_BALANCERS = Object.keys(COMMANDS) as readonly LoadBalancer[];

/** No server listens there. */
const UNUSED_PORT = 9;

/** Its address, once an instance answers through it. It ends with the test. */
export async function startLoadBalancer(name: LoadBalancer, ports: readonly number[]): Promise<string> {
  const { file, run } = COMMANDS[name];
  const port = await freePort();
  let sample = readFileSync(join(FOLDER, file), 'utf8');
  const replace = (what: string, by: string): void => {
    if (!sample.includes(what)) throw new Error(`${file} does not contain ${what}`);
    sample = sample.replace(what, by);
  };
  for (const [at, address] of SAMPLED.entries()) replace(address, `127.0.0.1:${ports[at] ?? UNUSED_PORT}`);
  replace('8080', String(port));
  // Below the text about TLS.
  if (sample.includes('8080')) replace(':8080', `:${port}`);
  const folder = mkdtempSync(join(tmpdir(), `lingua-${name}-`));
  const config = join(folder, file);
  writeFileSync(config, sample);
  const [program = '', ...args] = run(config);
  const child: ChildProcess = spawn(program, args, {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { PATH: process.env.PATH ?? '', HOME: folder },
  });
  let said = '';
  child.stderr?.on('data', (chunk: Buffer) => {
    said += chunk.toString();
  });
  const ended = new Promise<number | null>((resolve) => child.on('close', resolve));
  const early = ended.then((code) => {
    throw new Error(`${program} ended with ${code}:\n${said}`);
  });
  // At the end of the test it is expected.
  early.catch(() => undefined);
  onTestFinished(async () => {
    // nginx and haproxy end their workers then; a killed one would leave them.
    child.kill('SIGTERM');
    await ended;
    rmSync(folder, { recursive: true, force: true });
  });
  const url = `http://127.0.0.1:${port}`;
  await Promise.race([early, eventually(async () => (await fetch(`${url}/health/ready`)).status === 200)]);
  return url;
}
