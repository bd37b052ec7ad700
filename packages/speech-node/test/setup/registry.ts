/** A registry with one archive, over HTTP, that can break off, stall or ignore ranges. */

import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { Archive, Part } from '../../src/setup/parts.ts';

export interface Registry {
  readonly archive: Archive;
  readonly part: Part;
  readonly url: string;
  /** An empty cache folder. */
  readonly folder: string;
  /** The ranges that were asked for; an empty text without one. */
  readonly ranges: readonly string[];
  /** Breaks the connection that waits after `breakAfter` bytes. */
  cut(): void;
}

export async function openRegistry(
  options: {
    /** Bytes after which the connection waits to be cut, per request; 0: it breaks at once, absent: not at all. */
    readonly breakAfter?: readonly number[];
    readonly ignoresRanges?: boolean;
    readonly status?: number;
    /** Sends no byte of the body. */
    readonly stalls?: boolean;
  } = {},
): Promise<Registry> {
  const folder = mkdtempSync(join(tmpdir(), 'registry-'));
  const packed = join(folder, 'packed');
  for (const [name, text] of [
    ['package/package.json', '{}'],
    ['package/models/a/weights.bin', 'w'.repeat(100_000)],
    ['package/other.bin', 'not in use'],
  ] as const) {
    mkdirSync(dirname(join(packed, name)), { recursive: true });
    writeFileSync(join(packed, name), text);
  }
  execFileSync('tar', ['-czf', join(folder, 'archive.tgz'), '-C', packed, 'package']);
  // The compressed text is short: what follows the archive is ignored by tar.
  const body = Buffer.concat([readFileSync(join(folder, 'archive.tgz')), Buffer.alloc(20_000)]);
  const archive = {
    name: '@test/archive',
    version: '1.0.0',
    sha256: createHash('sha256').update(body).digest('hex'),
    bytes: body.length,
  };
  const ranges: string[] = [];
  let open: ServerResponse | undefined;
  const server = createServer((request, response) => {
    const { range = '' } = request.headers;
    const breakAfter = options.breakAfter?.[ranges.length];
    ranges.push(range);
    const from = options.ignoresRanges === true ? 0 : Number(/\d+/.exec(range)?.[0] ?? 0);
    const isPart = from > 0;
    response.writeHead(options.status ?? (isPart ? 206 : 200), { 'content-length': body.length - from });
    if (options.stalls === true) return response.flushHeaders();
    if (breakAfter === undefined) return response.end(body.subarray(from));
    if (breakAfter === 0) return response.destroy();
    response.write(body.subarray(from, from + breakAfter));
    open = response;
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
    rmSync(folder, { recursive: true });
  });
  return {
    archive,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/archive.tgz`,
    folder: join(folder, 'cache'),
    ranges,
    cut: () => open?.destroy(),
    part: {
      title: 'weights',
      licence: 'MIT',
      archive,
      folder: 'models/a',
      members: ['package/models/a'],
      bytes: 100_000,
    },
  };
}
