/** The systemd unit: checked offline, because no systemd runs on test machines, and its ExecStart run as its user. */
import { chmod, chown, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { nodeRuntime } from '../../../../scripts/node-runtimes.mjs';
import { loaded } from '../config/loaded.ts';
import { eventually } from '../support/eventually.ts';
import { installPackages, run } from './support/packed.ts';
import { type Account, prepareEtc, startService, UNIT, valuesOf } from './support/systemd-unit.ts';

const SLOW_MS = 600_000;
/** In tenths: 2.0 of 10. */
const MOST_EXPOSURE = 20;
const CONFIG = `[server]
port = 0
[[server.tokens]]
token = "an-operator-token-of-a-test"
role = "operator"
`;

describe('the unit', () => {
  it('systemd-analyze verify prints nothing', async () => {
    const { stdout, stderr } = await run('systemd-analyze', ['verify', '--man=no', UNIT]);
    expect([stdout, stderr]).toEqual(['', '']);
  });

  it(`its exposure is at most ${MOST_EXPOSURE / 10}`, async () => {
    const options = ['--offline=true', '--no-pager', `--threshold=${MOST_EXPOSURE}`];
    const { stdout } = await run('systemd-analyze', ['security', ...options, UNIT]);
    expect(stdout).toContain('Overall exposure level');
  });

  it('it may drain for longer than the scheduler does, and a wrong configuration is not tried again', () => {
    const { config } = loaded();
    const [seconds] = valuesOf('TimeoutStopSec').map(Number);
    expect((seconds ?? 0) * 1_000).toBeGreaterThan(config.server.drain_timeout_ms);
    expect(valuesOf('RestartPreventExitStatus')).toEqual(['2']);
  });
});

describe('ExecStart', () => {
  let installed: string;
  let remove: () => Promise<void>;
  let root: string;
  let account: Account;

  beforeAll(async () => {
    ({ folder: installed, remove } = await installPackages());
    root = await mkdtemp(join(tmpdir(), 'lingua-unit-'));
    for (const folder of [installed, root]) await chmod(folder, 0o755);
    account = await prepareEtc(root, CONFIG);
    await mkdir(join(root, 'state'));
    await chown(join(root, 'state'), account.uid, account.gid);
  }, SLOW_MS);
  afterAll(async () => {
    await remove();
    await rm(root, { recursive: true, force: true });
  });

  const start = (...before: readonly string[]) => {
    const at = { installed, root, account, state: join(root, 'state'), node: nodeRuntime(22), before };
    const service = startService(at);
    onTestFinished(service.kill);
    return service;
  };

  it('the configuration is readable for the user, and not for others', async () => {
    const file = await stat(join(root, 'etc/lingua/config.toml'));
    expect([file.uid, file.gid, file.mode & 0o777]).toEqual([0, account.gid, 0o640]);
    expect(account.uid).toBeGreaterThan(0);
  });

  it(
    'the service runs as its user, logs lines of JSON, reloads with SIGHUP and drains with SIGTERM',
    async () => {
      const service = start();
      const url = await service.url();
      await eventually(async () => (await fetch(`${url}/health/ready`)).status === 200);
      const pid = await service.pid();
      const status = await readFile(`/proc/${pid}/status`, 'utf8');
      expect(status).toMatch(new RegExp(`^Uid:\\s${account.uid}\\s`, 'm'));
      expect(status).toMatch(/^CapEff:\s0+$/m);

      process.kill(pid, 'SIGHUP');
      await eventually(() => /reload/i.test(service.out()));
      process.kill(pid, 'SIGTERM');
      expect(await service.ended).toBe(0);
      const lines = service.out().trim().split('\n');
      expect(lines.map((line) => typeof JSON.parse(line))).toEqual(lines.map(() => 'object'));
      expect(service.out()).toContain('"msg":"stopped"');
      expect(service.err()).toBe('');
    },
    SLOW_MS,
  );

  it(
    'every system call of a start is one that the unit allows',
    async () => {
      const service = start('strace', '--follow-forks', '--quiet=all', '--output=/var/lib/lingua/calls');
      const url = await service.url();
      await eventually(async () => (await fetch(`${url}/health/ready`)).status === 200);
      const calls = join(root, 'state/calls');
      const used = async (): Promise<Set<string>> =>
        new Set(
          [...(await readFile(calls, 'utf8')).matchAll(/^\d+ +(\w+)\(/gm)].map(([, name = '']) => name),
        );
      await eventually(async () => (await used()).has('listen'));
      const allowed = await allowedCalls();
      expect([...(await used())].filter((name) => !allowed.has(name))).toEqual([]);
      expect(await readdir(join(root, 'state'))).toEqual(['calls']);
    },
    SLOW_MS,
  );

  it(
    'a wrong configuration ends it with the status that prevents a restart',
    async () => {
      const file = join(root, 'etc/lingua/config.toml');
      await writeFile(file, `${CONFIG}\n[serverr]\nport = 1\n`);
      const service = start();
      expect([await service.ended, service.err()]).toEqual([2, expect.stringContaining('serverr')]);
    },
    SLOW_MS,
  );
});

/** SystemCallFilter, with its groups replaced by their members. */
async function allowedCalls(): Promise<Set<string>> {
  const { stdout } = await run('systemd-analyze', ['syscall-filter', '--no-pager']);
  const groups = new Map<string, string[]>();
  for (const block of stdout.split(/\n(?=@)/)) {
    const [name = '', ...members] = block.split('\n').map((line) => line.trim());
    groups.set(
      name,
      members.filter((member) => member !== '' && !member.startsWith('#')),
    );
  }
  const membersOf = (name: string): string[] =>
    name.startsWith('@') ? (groups.get(name) ?? []).flatMap(membersOf) : [name];
  const allowed = new Set<string>();
  for (const value of valuesOf('SystemCallFilter')) {
    const names = value.replace('~', '').split(' ').flatMap(membersOf);
    for (const name of names) value.startsWith('~') ? allowed.delete(name) : allowed.add(name);
  }
  // systemd always allows the program to be started.
  for (const name of membersOf('@default')) allowed.add(name);
  return allowed;
}
