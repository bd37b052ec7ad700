/** Builds dist once if the sources are newer; the command and the benchmark run from dist. */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { eventually } from '../../support/eventually.ts';

const ROOT = fileURLToPath(new URL('../../../../..', import.meta.url));
const PROJECTS = [
  'packages/protocol',
  'packages/sdk',
  'packages/scheduler',
  'packages/speech-node',
  'packages/simulation',
  'bench',
  'proof',
];
const BUILD_MS = 120_000;

export const LINGUA = join(ROOT, 'packages/scheduler/bin/lingua.js');
export const BENCH = join(ROOT, 'bench/dist/main.js');

export async function ensureBuilt(): Promise<void> {
  if (await isFresh()) return;
  const lock = join(tmpdir(), `lingua-build-${createHash('sha256').update(ROOT).digest('hex').slice(0, 16)}`);
  await eventually(() => takeLock(lock), { withinMs: BUILD_MS });
  try {
    if (!(await isFresh())) await build();
  } finally {
    await rm(lock, { recursive: true, force: true });
  }
}

async function build(): Promise<void> {
  try {
    await promisify(execFile)('npm', ['run', 'build'], { cwd: ROOT });
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
    throw new Error(`npm run build failed\n${stdout}\n${stderr}`, { cause: error });
  }
}

/** Test files run in several processes, and a build begins by removing dist. */
async function takeLock(lock: string): Promise<boolean> {
  try {
    await mkdir(lock);
    return true;
  } catch {
    // The process that held the lock was killed.
    if (Date.now() - (await mtimeOf(lock)) > BUILD_MS) await rm(lock, { recursive: true, force: true });
    return false;
  }
}

async function isFresh(): Promise<boolean> {
  const outputs = [...PROJECTS.map((folder) => join(folder, 'dist')), 'packages/scheduler/dist/console'];
  const built = await Promise.all(outputs.map((folder) => newest(join(ROOT, folder))));
  const written = await Promise.all(
    [...PROJECTS, 'packages/console'].map((folder) => newest(join(ROOT, folder, 'src'))),
  );
  return built.every((at) => at > 0) && Math.min(...built) >= Math.max(...written);
}

async function newest(folder: string): Promise<number> {
  try {
    const names = await readdir(folder, { recursive: true });
    return Math.max(0, ...(await Promise.all(names.map((name) => mtimeOf(join(folder, name))))));
  } catch {
    return 0;
  }
}

const mtimeOf = async (path: string): Promise<number> => (await stat(path)).mtimeMs;
