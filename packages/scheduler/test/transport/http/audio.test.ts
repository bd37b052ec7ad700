/** GET /v1/audio/:ref: credentials, format, and slow readers. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { DRAINING } from '../../../src/transport/http/server/http-services.ts';
import { eventually } from '../../support/eventually.ts';
import { TOKENS } from '../access/settings.ts';
import { bearer, OPEN, startServer } from './start-server.ts';

const PATH = '/v1/audio/job-1';
const AUDIO = Buffer.from(Array.from({ length: 1_000 }, (_, index) => index % 256));

async function startHolder(...options: Parameters<typeof startServer>) {
  const server = await startServer(...options);
  const { store, tokens } = server.audio;
  store.put('job-1', 'acme', AUDIO);
  const token = tokens.issue('job-1');
  return { ...server, store, tokens, token, fetch: (path = PATH) => server.get(path, bearer(token)) };
}

describe('GET /v1/audio/:ref', () => {
  it('audio is sent unchanged, with its length and no-store', async () => {
    const { url, token } = await startHolder();
    const response = await fetch(url + PATH, { headers: bearer(token) });
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('application/octet-stream');
    expect(response.headers.get('content-length')).toBe(String(AUDIO.length));
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(Buffer.from(await response.arrayBuffer()).equals(AUDIO)).toBe(true);
  });

  it('audio requires the token of its job; role tokens are refused', async () => {
    const { get, tokens, store } = await startHolder({ access: { tokens: TOKENS } });
    store.put('job-2', 'acme', AUDIO);
    expect(await get(PATH)).toMatchObject({
      status: 401,
      body: { error: 'UNAUTHORIZED', hint: expect.stringContaining('audio_ref') },
    });
    for (const wrong of ['operator-token', 'node-token', 'acme-token', tokens.issue('job-2')]) {
      expect(await get(PATH, bearer(wrong)), wrong).toMatchObject({
        status: 403,
        body: { error: 'FORBIDDEN' },
      });
    }
    expect((await get(PATH, { authorization: `Basic ${tokens.issue('job-1')}` })).status).toBe(403);
    expect((await get(`${PATH}?token=${tokens.issue('job-1')}`)).status).toBe(401);
  });

  it('the job token suffices, also from outside the trusted networks', async () => {
    const { fetch } = await startHolder({ access: { tokens: TOKENS, trustedNetworks: ['10.0.0.0/8'] } });
    expect((await fetch()).status).toBe(200);
  });

  it('lost audio gives 410 with its token, and 403 without', async () => {
    const { get, store, fetch } = await startHolder();
    const there = await get(PATH, bearer('wrong'));
    store.drop('job-1');
    expect(await fetch()).toMatchObject({ status: 410, body: { error: 'AUDIO_LOST' } });
    const gone = await get(PATH, bearer('wrong'));
    expect([gone.status, gone.body]).toEqual([there.status, there.body]);
    expect((await get(PATH)).status).toBe(401);
  });

  it('fetching audio uses the global budget once the token is valid', async () => {
    const limits = { ...OPEN.limits, requestsPerSecond: 1 };
    const { get, fetch, counts } = await startHolder({ access: { limits } });
    for (let round = 0; round < 3; round += 1) expect((await get(PATH, bearer('wrong'))).status).toBe(403);
    expect((await fetch()).status).toBe(200);
    expect(await fetch()).toMatchObject({ status: 429, body: { error: 'RATE_LIMITED' } });
    expect(counts.get('scheduler_rate_limited_total global')).toBe(1);
  });

  it('audio is served while the server drains', async () => {
    const { readiness, fetch } = await startHolder();
    readiness.isReady = false;
    readiness.reasons.push(DRAINING);
    expect((await fetch()).status).toBe(200);
  });

  it('an invalid reference is refused with the name of the field', async () => {
    const { fetch } = await startHolder();
    expect(await fetch('/v1/audio/a%20b')).toMatchObject({
      status: 400,
      body: { error: 'INVALID_MESSAGE', field: '/ref' },
    });
  });

  it('neither audio nor token is logged', async () => {
    const { fetch, get, token, tokens, lines } = await startHolder();
    await fetch();
    await get(PATH, bearer(tokens.issue('job-2')));
    await eventually(() => lines.filter((line) => line.includes(PATH)).length === 2);
    const text = lines.join('\n');
    for (const secret of [token, tokens.issue('job-2'), AUDIO.toString('base64', 0, 30)]) {
      expect(text).not.toContain(secret);
    }
  });

  it('the OpenAPI document describes audio as bytes with a token', async () => {
    const { get } = await startHolder();
    const { body } = await get('/docs/json');
    expect(body.paths['/v1/audio/{ref}'].get).toMatchObject({
      security: [{ bearer: [] }],
      responses: { 200: { content: { 'application/octet-stream': {} } } },
    });
  });
});

describe('slow reader of audio', () => {
  /** More than the system buffers between two sockets. */
  const LONG = Buffer.alloc(48 * 1024 * 1024, 1);

  it('a reader that stops reading is cut off and its audio freed', async () => {
    const { port, server, store, token } = await startHolder({
      settings: { requestTimeoutMs: 300, headersTimeoutMs: 300 },
    });
    store.put('job-1', 'acme', LONG);
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => {});
    const [peer] = (await once(server.app.server, 'connection')) as [Socket];
    socket.write(`GET ${PATH} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${token}\r\n\r\n`);
    // The first bytes have arrived; the client reads no more.
    await once(socket, 'readable');
    await once(peer, 'close');
    let bytes = 0;
    socket.on('data', (part) => {
      bytes += part.length;
    });
    await once(socket, 'close');
    expect(bytes).toBeLessThan(LONG.length);
  });

  it('a reader that reads in time gets all audio', async () => {
    const { url, store, token } = await startHolder({
      settings: { requestTimeoutMs: 10_000, headersTimeoutMs: 10_000 },
    });
    store.put('job-1', 'acme', LONG);
    const response = await fetch(url + PATH, { headers: bearer(token) });
    expect((await response.arrayBuffer()).byteLength).toBe(LONG.length);
  });
});
