/** What a page has to load. */
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { bundleClient } from './support/bundle-client.ts';

it('is less than 20 KB in all, and nothing of a server or of Node.js', async () => {
  const { code, modules } = await bundleClient();
  expect(code).toContain('session_init');
  expect(gzipSync(code).length).toBeLessThan(20 * 1024);
  const sources = fileURLToPath(new URL('../../src/client/', import.meta.url));
  expect(modules.filter((module) => !module.startsWith(sources))).toEqual([]);
  expect(code).not.toMatch(/\bfrom\s*["']|\bimport\s*[("']|\brequire\s*\(/);
  expect(code).not.toMatch(/\b(Buffer|process|__dirname)\b/);
});

it('exports what is promised, and no more', async () => {
  const api = await import('../../src/client/index.ts');
  expect(Object.keys(api).sort()).toEqual(['BACKOFF', 'SESSION_LIMITS', 'SESSION_TIMINGS', 'openSession']);
});
