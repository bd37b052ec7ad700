/** The console's files: where they are, how long browsers keep them, and what their pages may do. */
import { EventEmitter } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { stripUpgrades } from '../../../src/transport/http/server/base-path.ts';
import { startServer } from './start-server.ts';

let consoleFolder: string;

beforeAll(() => {
  consoleFolder = mkdtempSync(join(tmpdir(), 'console-'));
  mkdirSync(join(consoleFolder, 'assets'));
  writeFileSync(join(consoleFolder, 'index.html'), '<title>console</title>');
  writeFileSync(join(consoleFolder, 'talk.html'), '<title>talk</title>');
  writeFileSync(join(consoleFolder, 'assets', 'main-1a2b.js'), 'export {};\n'.repeat(100));
});

afterAll(() => rmSync(consoleFolder, { recursive: true }));

const start = async (basePath = '') => {
  const { url } = await startServer({ settings: { consoleFolder, basePath } });
  return (path: string, init: RequestInit = {}) => fetch(`${url}${path}`, { redirect: 'manual', ...init });
};

it('the index is revalidated, and hashed files are kept for a year', async () => {
  const get = await start();
  const index = await get('/');
  expect(index.status).toBe(200);
  expect(await index.text()).toContain('console');
  expect(index.headers.get('content-type')).toBe('text/html; charset=utf-8');
  expect(index.headers.get('cache-control')).toBe('no-cache');
  const script = await get('/assets/main-1a2b.js');
  expect(script.headers.get('cache-control')).toContain('immutable');
  expect(script.headers.get('content-encoding')).toBe('gzip');
  expect(await script.text()).toContain('export {}');
  const plain = await get('/assets/main-1a2b.js', { headers: { 'accept-encoding': 'identity' } });
  expect(plain.headers.get('content-encoding')).toBeNull();
});

it('no page loads anything from elsewhere, or runs WebAssembly', async () => {
  const get = await start();
  const policyOf = async (path: string) => (await get(path)).headers.get('content-security-policy') ?? '';
  expect(await policyOf('/')).toMatch(/^default-src 'none'.*script-src 'self'$/);
  expect(await policyOf('/')).not.toMatch(/unsafe|https?:|\*/);
  expect(await policyOf('/talk.html')).toBe(await policyOf('/'));
});

it('paths outside of the built files are not found', async () => {
  const get = await start();
  for (const path of ['/assets/other.js', '/assets/..%2f..%2fpackage.json', '/package.json'])
    expect((await get(path)).status, path).toBe(404);
});

it('without built files the page says how to build them', async () => {
  const { url } = await startServer({ settings: { consoleFolder: join(consoleFolder, 'absent') } });
  const page = await fetch(url);
  expect(page.status).toBe(503);
  expect(await page.text()).toContain('npm run build');
});

it('pages and API answer below the base path', async () => {
  const { url } = await startServer({ settings: { consoleFolder, basePath: '/lingua' } });
  const get = (path: string) => fetch(`${url}${path}`, { redirect: 'manual' });
  expect((await get('/lingua/')).status).toBe(200);
  expect((await get('/lingua')).headers.get('location')).toBe('/lingua/');
  expect((await get('/lingua/health')).status).toBe(200);
  expect((await get('/linguaX/health')).status).toBe(404);
});

it('the address of a socket loses the base path before the socket server reads it', () => {
  const server = new EventEmitter();
  stripUpgrades(server as Server, '/lingua');
  const request = { url: '/lingua/ws/session?token=t' };
  server.emit('upgrade', request);
  expect(request.url).toBe('/ws/session?token=t');
});
