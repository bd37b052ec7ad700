/** The image, made by its script, and containers of it: podman with a store of its own, which is removed at the end. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT } from '../../architecture/source-files.ts';
import { packed, run } from './packed.ts';

const NAME = 'localhost/lingua-scheduler:test';
/** Without systemd there is no other manager, and crun refuses the cgroups of old and new kind together. */
const WAYS = ['--runtime=runc', '--cgroup-manager=cgroupfs', '--events-backend=file', '--log-level=fatal'];
/** As the documents say; the limits are those that every machine grants. */
const CONFINED = [
  ...['--network=host', '--read-only', '--cap-drop=all', '--security-opt=no-new-privileges', '--pull=never'],
  ...['--ulimit=nofile=1024:1024', '--ulimit=nproc=1024:1024'],
];

export interface Image {
  inspect(): Promise<unknown>;
  /** Every file of it, as tar lists them. */
  files(): Promise<string[]>;
  /** Runs it until it ends by itself. */
  ending(env: Readonly<Record<string, string>>): Promise<{ readonly code: number; readonly printed: string }>;
  start(
    name: string,
    env: Readonly<Record<string, string>>,
    ...command: readonly string[]
  ): Promise<Container>;
  remove(): Promise<void>;
}

export interface Container {
  pid(): Promise<number>;
  isHealthy(): Promise<boolean>;
  /** By SIGTERM; resolves with the exit code, and removes it. */
  stop(): Promise<number>;
}

export async function makeImage(): Promise<Image> {
  const folder = await mkdtemp(join(tmpdir(), 'lingua-containers-'));
  const file = join(folder, 'image.tar.gz');
  await run(process.execPath, [
    join(ROOT, 'scripts/image.mjs'),
    file,
    '--packages',
    await packed(),
    '--name',
    NAME,
  ]);
  const policy = join(folder, 'policy.json');
  await writeFile(policy, '{"default":[{"type":"insecureAcceptAnything"}]}');
  const store = [`--root=${join(folder, 'store')}`, `--runroot=${join(folder, 'run')}`];
  const ask = (...args: readonly string[]): Promise<{ stdout: string; stderr: string }> =>
    run('podman', [...store, '--storage-driver=vfs', ...WAYS, ...args], { maxBuffer: 64 * 1024 * 1024 });
  const podman = async (...args: readonly string[]): Promise<string> => (await ask(...args)).stdout;
  const started = new Set<string>();
  // podman of Debian 12 reads no compressed archive.
  await run('gunzip', ['--keep', file]);
  await podman('load', '--quiet', `--signature-policy=${policy}`, `--input=${join(folder, 'image.tar')}`);

  return {
    inspect: async () => (JSON.parse(await podman('image', 'inspect', NAME)) as unknown[])[0],
    async files() {
      const id = (await podman('create', '--pull=never', NAME)).trim();
      const archive = join(folder, 'files.tar');
      await podman('export', `--output=${archive}`, id);
      await podman('rm', id);
      const { stdout } = await run('tar', ['-tvf', archive], { maxBuffer: 64 * 1024 * 1024 });
      return stdout.trim().split('\n');
    },
    ending: (env) =>
      ask('run', '--rm', ...CONFINED, ...variablesOf(env), NAME).then(
        ({ stdout, stderr }) => ({ code: 0, printed: stdout + stderr }),
        ({ code, stdout, stderr }) => ({ code, printed: `${stdout}${stderr}` }),
      ),
    async start(name, env, ...command) {
      const variables = variablesOf(env);
      await podman('run', '--detach', `--name=${name}`, ...CONFINED, ...variables, NAME, ...command);
      started.add(name);
      const state = async (what: string): Promise<number> =>
        Number(await podman('inspect', `--format={{.State.${what}}}`, name));
      return {
        pid: () => state('Pid'),
        isHealthy: () =>
          podman('healthcheck', 'run', name).then(
            () => true,
            () => false,
          ),
        async stop() {
          await podman('stop', '--time=60', name);
          const code = await state('ExitCode');
          await podman('rm', name);
          started.delete(name);
          return code;
        },
      };
    },
    async remove() {
      for (const name of started) await podman('rm', '--force', '--time=0', name);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

const variablesOf = (env: Readonly<Record<string, string>>): string[] =>
  Object.entries(env).map(([key, value]) => `--env=${key}=${value}`);
