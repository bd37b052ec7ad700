/** Fetches the parts that are missing: download, check, extract the files in use, delete the archive. */
import { mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { runProgram } from '../engines/run-program.ts';
import { MARK, markOf, missingParts } from './cache-folder.ts';
import { digestOf, download } from './download.ts';
import type { Archive, Part } from './parts.ts';

export interface SetUpOptions {
  readonly folder: string;
  readonly parts: readonly Part[];
  readonly signal: AbortSignal;
  readonly onProgress: (archive: Archive, bytes: number) => void;
  /** Default: the npm client says where the configured registry has the archive. */
  readonly addressOf?: (archive: Archive, signal: AbortSignal) => Promise<string>;
  readonly stallMs?: number;
  readonly pause?: (attempt: number) => Promise<void>;
}

const STALL_MS = 30_000;
const PAUSE_MS = 1_000;

/** Returns the parts that were installed; a second run installs nothing. */
export async function setUp(options: SetUpOptions): Promise<Part[]> {
  const missing = await missingParts(options.folder, options.parts);
  if (missing.length === 0) return [];
  await mkdir(options.folder, { recursive: true });
  const unlock = await lock(join(options.folder, 'set-up.lock'));
  try {
    const archives = new Map(missing.map(({ archive }) => [`${archive.name}@${archive.version}`, archive]));
    for (const archive of archives.values()) {
      const path = await fetchArchive(archive, options);
      for (const part of missing.filter((each) => each.archive === archive))
        await extract(part, path, options);
      await rm(path);
    }
  } finally {
    await unlock();
  }
  return missing;
}

async function fetchArchive(archive: Archive, options: SetUpOptions): Promise<string> {
  const file = `${archive.name.replaceAll(/[@/]+/g, '-').replace(/^-/, '')}-${archive.version}.tgz`;
  const path = join(options.folder, 'downloads', file);
  // A person may have put it there.
  if (await isFile(path)) {
    if ((await digestOf(path)) === archive.sha256) return path;
    await rm(path);
  }
  const { addressOf = npmAddress, signal } = options;
  await download({
    archive,
    path,
    signal,
    url: await addressOf(archive, signal),
    onProgress: (bytes) => options.onProgress(archive, bytes),
    stallMs: options.stallMs ?? STALL_MS,
    pause:
      options.pause ?? ((attempt) => new Promise((resolve) => setTimeout(resolve, PAUSE_MS * 2 ** attempt))),
  });
  return path;
}

async function extract(part: Part, archive: string, { folder, signal }: SetUpOptions): Promise<void> {
  const target = join(folder, part.folder);
  const unfinished = join(folder, 'unfinished');
  await rm(unfinished, { recursive: true, force: true });
  await mkdir(unfinished, { recursive: true });
  await runProgram({
    program: 'tar',
    args: ['-xzf', archive, '-C', unfinished, '--strip-components=1', '--no-same-owner', ...part.members],
    signal,
    maxBytes: 1_024,
  });
  await writeFile(join(unfinished, MARK), markOf(part));
  await rm(target, { recursive: true, force: true });
  await mkdir(dirname(target), { recursive: true });
  await rename(unfinished, target);
}

/** The npm client knows the registry, and no script of the package is run. */
async function npmAddress({ name, version }: Archive, signal: AbortSignal): Promise<string> {
  const answer = await runProgram({
    program: 'npm',
    args: ['view', `${name}@${version}`, 'dist.tarball', '--ignore-scripts'],
    signal,
    maxBytes: 65_536,
  });
  const url = answer.toString().trim();
  if (!URL.canParse(url)) throw new Error(`npm names no address for ${name}@${version}: "${url}"`);
  return url;
}

/** Two set-ups would extract into the same folder. */
async function lock(path: string): Promise<() => Promise<void>> {
  for (;;) {
    try {
      await writeFile(path, String(process.pid), { flag: 'wx' });
      return () => rm(path, { force: true });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
    const owner = Number(await readFile(path, 'utf8').catch(() => '0'));
    if (isAlive(owner))
      throw new Error(
        `another set-up is running (process ${owner}); wait for it, or end it and delete ${path}`,
      );
    await rm(path, { force: true });
  }
}

function isAlive(pid: number): boolean {
  if (pid <= 0) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

const isFile = (path: string): Promise<boolean> =>
  stat(path).then(
    (found) => found.isFile(),
    () => false,
  );
