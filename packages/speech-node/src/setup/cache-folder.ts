/** Where the set-up puts the runtime and the models, and what is there. */
import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Part } from './parts.ts';

type Environment = Readonly<Record<string, string | undefined>>;

export function cacheFolder(env: Environment): string {
  const { LINGUA_SPEECH_HOME: home, XDG_CACHE_HOME: caches } = env;
  if (home !== undefined && home !== '') return resolve(home);
  return join(caches === undefined || caches === '' ? join(homedir(), '.cache') : caches, 'lingua', 'speech');
}

/** Written last into the folder of a part: without it the part is not complete. */
export const MARK = 'installed.json';

export async function isInstalled(folder: string, part: Part): Promise<boolean> {
  const text = await readFile(join(folder, part.folder, MARK), 'utf8').catch(() => '');
  return text === markOf(part);
}

/** Another version, or another choice of files, makes the part be installed again. */
export const markOf = ({ archive, members }: Part): string =>
  `${JSON.stringify({ package: archive.name, version: archive.version, sha256: archive.sha256, members }, undefined, 2)}\n`;

export async function missingParts(folder: string, parts: readonly Part[]): Promise<Part[]> {
  const found = await Promise.all(parts.map((part) => isInstalled(folder, part)));
  return parts.filter((_, index) => found[index] === false);
}
