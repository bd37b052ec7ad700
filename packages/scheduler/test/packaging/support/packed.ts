/** The tarballs that users install, made of the files as they are now, and folders outside the repository where they are installed. */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, realpath, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { nodeRuntime } from '../../../../../scripts/node-runtimes.mjs';
import { ROOT } from '../../architecture/source-files.ts';

export const run = promisify(execFile);
const LARGE = { maxBuffer: 64 * 1024 * 1024 };
/** Changes nothing in a tarball. */
const OUTSIDE = /\/test\/|^(bench|docs|proof|packages\/(python|simulation))\//;
const CACHE = join(ROOT, 'node_modules/.cache/packed');

/** The folder with the tarballs. Several test files need them: they are made once for the same files. */
export async function packed(): Promise<string> {
  const folder = join(CACHE, await digestOfFiles());
  if (existsSync(folder)) return folder;
  await mkdir(CACHE, { recursive: true });
  const work = await mkdtemp(join(CACHE, 'new-'));
  await run(process.execPath, [join(ROOT, 'scripts/pack.mjs'), work], LARGE);
  await rename(work, folder).catch(() => rm(work, { recursive: true }));
  return folder;
}

const tarballs = async (): Promise<string[]> => {
  const folder = await packed();
  return (await readdir(folder)).sort().map((name) => join(folder, name));
};

async function digestOfFiles(): Promise<string> {
  const list = ['ls-files', '-z', '--cached', '--others', '--exclude-standard'];
  const { stdout } = await run('git', list, { cwd: ROOT, ...LARGE });
  const digest = createHash('sha256');
  const isPacked = (path: string) => path !== '' && !OUTSIDE.test(path) && existsSync(join(ROOT, path));
  for (const path of stdout.split('\0').filter(isPacked))
    digest.update(path).update(await readFile(join(ROOT, path)));
  return digest.digest('hex');
}

/** A runtime other than the one that runs the tests. */
export const nodeOf = (major: number): string => join(nodeRuntime(major), 'bin/node');

/** The npm command that is on the path, on the oldest supported Node.js. */
export async function npm(
  folder: string,
  ...args: readonly string[]
): Promise<{ stdout: string; stderr: string }> {
  const { stdout } = await run('sh', ['-c', 'command -v npm']);
  return run(nodeOf(20), [await realpath(stdout.trim()), ...args], { cwd: folder, env: cleanEnv(20) });
}

/** Without the settings that npm passes on to what it starts, such as the tests. */
export const cleanEnv = (major: number): NodeJS.ProcessEnv => ({
  ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('npm_'))),
  PATH: `${dirname(nodeOf(major))}:${process.env.PATH ?? ''}`,
});

export interface Installation {
  readonly folder: string;
  /** The tarballs. */
  readonly files: readonly string[];
  readonly printed: string;
  remove(): Promise<void>;
}

const EARLIER = join(ROOT, 'packages/scheduler/test/packaging/earlier-release');

/** The tarballs of the release before this build. */
export const earlierTarballs = async (): Promise<string[]> =>
  (await readdir(EARLIER))
    .filter((name) => name.endsWith('.tgz'))
    .sort()
    .map((name) => join(EARLIER, name));

/** A new folder in which all packages are installed as a user installs them, and what npm printed. */
export async function installPackages(from?: readonly string[]): Promise<Installation> {
  const folder = await mkdtemp(join(tmpdir(), 'lingua-installed-'));
  await writeFile(join(folder, 'package.json'), '{"private":true,"type":"module"}');
  const files = from ?? (await tarballs());
  const { stdout, stderr } = await npm(folder, 'install', '--no-audit', '--no-fund', ...files);
  return {
    folder,
    files,
    printed: stdout + stderr,
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}
