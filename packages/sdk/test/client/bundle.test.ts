/** The bundle that a page loads. */
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { bundleClient } from './support/bundle-client.ts';

it('the bundle is below 20 KB and has no server or Node.js code', async () => {
  const { code, modules } = await bundleClient();
  expect(code).toContain('session_init');
  expect(gzipSync(code).length).toBeLessThan(20 * 1024);
  const sources = fileURLToPath(new URL('../../src/client/', import.meta.url));
  expect(modules.filter((module) => !module.startsWith(sources))).toEqual([]);
  expect(code).not.toMatch(/\bfrom\s*["']|\bimport\s*[("']|\brequire\s*\(/);
  expect(code).not.toMatch(/\b(Buffer|process|__dirname)\b/);
});

it('the bundle exports exactly the documented names', async () => {
  const api = await import('../../src/client/index.ts');
  expect(Object.keys(api).sort()).toEqual([
    'BACKOFF',
    'RoomRefused',
    'SESSION_LIMITS',
    'SESSION_TIMINGS',
    'openSession',
  ]);
});
