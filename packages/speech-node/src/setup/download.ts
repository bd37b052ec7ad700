/** Downloads a file into place: goes on where a broken download ended, and keeps it only if its sha256 is right. */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, open, rename, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { Archive } from './parts.ts';

export interface DownloadOptions {
  readonly archive: Archive;
  readonly url: string;
  readonly path: string;
  readonly signal: AbortSignal;
  readonly onProgress: (bytes: number) => void;
  /** Without a byte for this time, a connection counts as broken. */
  readonly stallMs: number;
  /** Waits between two attempts. */
  readonly pause: (attempt: number) => Promise<void>;
}

const ATTEMPTS = 5;

export async function download(options: DownloadOptions): Promise<void> {
  const { archive, path, signal } = options;
  const partial = `${path}.part`;
  await mkdir(dirname(path), { recursive: true });
  for (let attempt = 1; ; attempt += 1) {
    try {
      if ((await sizeOf(partial)) < archive.bytes) await fetchRest(partial, options);
      break;
    } catch (error) {
      signal.throwIfAborted();
      if (attempt === ATTEMPTS) throw explained(error, options);
      await options.pause(attempt);
    }
  }
  const sha256 = await digestOf(partial);
  if (sha256 !== archive.sha256) {
    await rm(partial);
    throw new Error(
      `${archive.name}@${archive.version} from ${options.url} has the sha256 ${sha256} instead of ${archive.sha256}; the file was deleted. Check which registry npm uses (npm config get registry) and try again`,
    );
  }
  await rename(partial, path);
}

async function fetchRest(partial: string, options: DownloadOptions): Promise<void> {
  const { archive, url, onProgress, signal } = options;
  const have = await sizeOf(partial);
  const stalled = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const alive = (): void => {
    clearTimeout(timer);
    timer = setTimeout(() => stalled.abort(new Error(`no byte for ${options.stallMs} ms`)), options.stallMs);
  };
  alive();
  try {
    const response = await fetch(url, {
      headers: have > 0 ? { range: `bytes=${have}-` } : {},
      signal: AbortSignal.any([signal, stalled.signal]),
    });
    if (!response.ok) {
      await response.body?.cancel();
      throw new Error(`${response.status} ${response.statusText}`);
    }
    // Status 200: the server does not continue files, so it begins again.
    const from = response.status === 206 ? have : 0;
    const file = await open(partial, from > 0 ? 'a' : 'w');
    try {
      let bytes = from;
      for await (const part of response.body ?? []) {
        alive();
        bytes += part.length;
        if (bytes > archive.bytes) throw new Error(`more than the expected ${archive.bytes} bytes`);
        await file.write(part);
        onProgress(bytes);
      }
      if (bytes < archive.bytes) throw new Error(`ended after ${bytes} of ${archive.bytes} bytes`);
    } finally {
      await file.close();
    }
  } finally {
    clearTimeout(timer);
  }
}

function explained(error: unknown, { archive, url, path }: DownloadOptions): Error {
  const why = error instanceof Error ? ((error.cause as Error | undefined)?.message ?? error.message) : error;
  return new Error(
    `${archive.name}@${archive.version} could not be downloaded from ${url}: ${why}. Run the set-up again: it goes on from there. Behind a proxy: download this file in another way, and put it at ${path}`,
    { cause: error },
  );
}

export async function digestOf(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
}

const sizeOf = async (path: string): Promise<number> =>
  stat(path).then(
    ({ size }) => size,
    () => 0,
  );
