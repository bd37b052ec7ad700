import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isErrorCode } from '../../../src/domain/errors.ts';
import { DISPATCH, REGISTER, REPORT, startServer } from './start-server.ts';

const POSTS: readonly [path: string, good: Record<string, unknown>][] = [
  ['/v1/dispatch/f2f', DISPATCH],
  ['/v1/node/register', REGISTER],
  ['/v1/node/heartbeat', { node_id: 'node-123' }],
  ['/v1/job/ack', REPORT],
  ['/v1/job/done', REPORT],
  ['/v1/job/fail', { ...REPORT, reason: 'X' }],
  ['/v1/job/job-1/cancel', {}],
  ['/api/v1/nodes/nobody/cordon', {}],
  ['/api/v1/nodes/nobody/uncordon', {}],
  ['/api/v1/nodes/nobody/drain', {}],
  ['/api/v1/dead-letters/a:1-1/replay', {}],
];

const RUNS = 60;

/** A refusal has the usual shape and a 4xx status; valid input gets 200. */
function expectSound(status: number, text: string): void {
  const body = JSON.parse(text);
  if (status === 200) return;
  expect(status).toBeGreaterThanOrEqual(400);
  expect(status).toBeLessThan(500);
  expect(isErrorCode(body.error)).toBe(true);
  expect(body.detail.length).toBeGreaterThan(0);
  expect(body.hint.length).toBeGreaterThan(0);
}

describe.each(POSTS)('POST %s', (path, good) => {
  it('every body is answered, and the server keeps running', async () => {
    const { url, get } = await startServer();
    const spoiled = fc
      .dictionary(
        fc.constantFrom(...Object.keys(good), 'options', 'audio', 'extra', 'supports', 'x'),
        fc.jsonValue(),
      )
      .map((change) => JSON.stringify({ ...good, ...change }));
    const bodies = fc.oneof(spoiled, fc.json(), fc.string(), fc.string({ unit: 'binary' }));
    await fc.assert(
      fc.asyncProperty(bodies, async (body) => {
        const headers = { 'content-type': 'application/json' };
        const response = await fetch(url + path, { method: 'POST', headers, body });
        expectSound(response.status, await response.text());
      }),
      { numRuns: RUNS },
    );
    expect((await get('/health/live')).status).toBe(200);
  });
});

describe('random paths and queries', () => {
  it('every path and query is answered, and the server keeps running', async () => {
    const { server } = await startServer();
    const { app } = server;
    const part = fc.oneof(
      fc.string(),
      fc.webQueryParameters(),
      fc.constantFrom('..', '%', '%00', '%ff', '//'),
    );
    const paths = [
      '/v1/job/',
      '/v1/node/',
      '/api/v1/nodes?',
      '/api/v1/jobs?',
      '/api/v1/sessions?',
      '/api/v1/dead-letters?',
      '/api/v1/dead-letters/',
      '/v1/job/x/events?',
      '/',
    ];
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...paths), part, async (path, rest) => {
        const url = path + encodeURI(rest).replaceAll('%25', '%');
        const answer = await app.inject({ method: 'GET', url, headers: { host: 'localhost' } });
        expectSound(answer.statusCode, answer.body);
      }),
      { numRuns: RUNS * 4 },
    );
  });

  it('any header value is accepted', async () => {
    const { server } = await startServer();
    const names = fc.constantFrom('authorization', 'idempotency-key', 'origin', 'host', 'last-event-id');
    const values = fc.string({ unit: 'grapheme-ascii' });
    await fc.assert(
      fc.asyncProperty(fc.dictionary(names, values), async (headers) => {
        const answer = await server.app.inject({
          method: 'POST',
          url: '/v1/dispatch/f2f',
          headers: { host: 'localhost', ...headers },
          payload: DISPATCH,
        });
        expectSound(answer.statusCode, answer.body);
      }),
      { numRuns: RUNS * 4 },
    );
  });
});
