/** Paths that are no paths, and the pages that describe the API. */
import { connect } from 'node:net';
import { expect, it } from 'vitest';
import { createManualClock } from '../../support/manual-clock.ts';
import { OPEN, startServer } from './start-server.ts';

const GARBAGE = [
  '..',
  '../',
  '..%2f..%2fpackage.json',
  '%2e%2e/',
  '%2e%2e%2f%2e%2e%2fetc/passwd',
  '\\..\\',
  '%5c..%5c',
  '%00',
  'a%00b',
  '.env',
  '/etc/passwd',
  '%',
  '%zz',
  '%ff',
  '%c0%ae%c0%ae',
  'a'.repeat(5_000),
];
const PREFIXES = [
  '/',
  '/docs/',
  '/docs/static/',
  '/v1/job/',
  '/v1/audio/',
  '/v1/node/',
  '/api/v1/nodes/',
  '/api/v1/dead-letters/',
  '/health/',
  '/metrics/',
];

/** The status of the reply. The path is sent as it is: fetch would normalise it. */
const statusOf = (port: number, path: string) =>
  new Promise<number>((resolve, reject) => {
    const socket = connect(port, '127.0.0.1');
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk;
    });
    socket.on('error', reject);
    socket.on('close', () => resolve(Number(text.split(' ', 2)[1])));
    socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`);
  });

it('garbage after any prefix is answered with 4xx', async () => {
  const { port, lines } = await startServer();
  const answers = PREFIXES.flatMap((prefix) => GARBAGE.map((garbage) => prefix + garbage)).map(
    async (path) => ({ path, status: await statusOf(port, path) }),
  );
  for (const { path, status } of await Promise.all(answers))
    expect([path, status >= 400 && status < 500]).toEqual([path, true]);
  expect(lines.filter((line) => line.includes('request failed'))).toEqual([]);
});

it('the description of the API can be switched off', async () => {
  const { get } = await startServer({ settings: { hasDocs: false } });
  for (const path of ['/docs', '/docs/json', '/docs/asyncapi.json', '/docs/static/swagger-ui.css'])
    expect((await get(path)).status).toBe(404);
  expect((await get('/nowhere')).body.hint).not.toContain('/docs');
});

it('the description of the API takes from the rate budget, health does not', async () => {
  const limits = { ...OPEN.limits, requestsPerSecond: 3 };
  const { get } = await startServer({ access: { limits }, clock: createManualClock() });
  for (const path of ['/docs', '/docs/json', '/docs/asyncapi.json'])
    expect((await get(path)).status).toBe(200);
  for (const path of ['/docs', '/docs/json', '/docs/asyncapi.json', '/docs/static/logo.svg'])
    expect(await get(path)).toMatchObject({ status: 429, body: { error: 'RATE_LIMITED' } });
  expect((await get('/health')).status).toBe(200);
});
