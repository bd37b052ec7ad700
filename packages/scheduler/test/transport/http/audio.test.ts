/** GET /v1/audio/:ref: who gets audio, in which form, and what happens to those who do not read it. */
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
  store.put('job-1', AUDIO);
  const token = tokens.issue('job-1');
  return { ...server, store, tokens, token, fetch: (path = PATH) => server.get(path, bearer(token)) };
}

describe('audio', () => {
  it('comes as it is held, with its exact length, to be kept by nobody on the way', async () => {
    const { url, token } = await startHolder();
    const response = await fetch(url + PATH, { headers: bearer(token) });
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('application/octet-stream');
    expect(response.headers.get('content-length')).toBe(String(AUDIO.length));
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(Buffer.from(await response.arrayBuffer()).equals(AUDIO)).toBe(true);
  });

  it('needs the token of its job; those of roles do not open it', async () => {
    const { get, tokens, store } = await startHolder({ access: { tokens: TOKENS } });
    store.put('job-2', AUDIO);
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

  it('needs nothing but that token, from outside the trusted networks too', async () => {
    const { fetch } = await startHolder({ access: { tokens: TOKENS, trustedNetworks: ['10.0.0.0/8'] } });
    expect((await fetch()).status).toBe(200);
  });

  it('that is gone is told to holders of its token, and to others the same as audio that is there', async () => {
    const { get, store, fetch } = await startHolder();
    const there = await get(PATH, bearer('wrong'));
    store.drop('job-1');
    expect(await fetch()).toMatchObject({ status: 410, body: { error: 'AUDIO_LOST' } });
    const gone = await get(PATH, bearer('wrong'));
    expect([gone.status, gone.body]).toEqual([there.status, there.body]);
    expect((await get(PATH)).status).toBe(401);
  });

  it('counts against the budget of all, once its token is right', async () => {
    const limits = { ...OPEN.limits, requestsPerSecond: 1 };
    const { get, fetch, counts } = await startHolder({ access: { limits } });
    for (let round = 0; round < 3; round += 1) expect((await get(PATH, bearer('wrong'))).status).toBe(403);
    expect((await fetch()).status).toBe(200);
    expect(await fetch()).toMatchObject({ status: 429, body: { error: 'RATE_LIMITED' } });
    expect(counts.get('scheduler_rate_limited_total global')).toBe(1);
  });

  it('is served while the server drains', async () => {
    const { readiness, fetch } = await startHolder();
    readiness.isReady = false;
    readiness.reasons.push(DRAINING);
    expect((await fetch()).status).toBe(200);
  });

  it('is refused by name when the reference is none', async () => {
    const { fetch } = await startHolder();
    expect(await fetch('/v1/audio/a%20b')).toMatchObject({
      status: 400,
      body: { error: 'INVALID_MESSAGE', field: '/ref' },
    });
  });

  it('leaves no trace of itself or its token in the log', async () => {
    const { fetch, get, token, tokens, lines } = await startHolder();
    await fetch();
    await get(PATH, bearer(tokens.issue('job-2')));
    await eventually(() => lines.filter((line) => line.includes(PATH)).length === 2);
    const text = lines.join('\n');
    for (const secret of [token, tokens.issue('job-2'), AUDIO.toString('base64', 0, 30)]) {
      expect(text).not.toContain(secret);
    }
  });

  it('is described as bytes behind a token', async () => {
    const { get } = await startHolder();
    const { body } = await get('/docs/json');
    expect(body.paths['/v1/audio/{ref}'].get).toMatchObject({
      security: [{ bearer: [] }],
      responses: { 200: { content: { 'application/octet-stream': {} } } },
    });
  });
});

describe('a slow reader', () => {
  /** More than the buffers of the system between two sockets hold. */
  const LONG = Buffer.alloc(48 * 1024 * 1024, 1);

  it('is cut off in the end, and with it goes the last hold on the audio', async () => {
    const { port, server, store, token } = await startHolder({ settings: { requestTimeoutMs: 300 } });
    store.put('job-1', LONG);
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => {});
    const [peer] = (await once(server.app.server, 'connection')) as [Socket];
    socket.write(`GET ${PATH} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${token}\r\n\r\n`);
    // The first bytes are there; nobody asks for more.
    await once(socket, 'readable');
    await once(peer, 'close');
    let bytes = 0;
    socket.on('data', (part) => {
      bytes += part.length;
    });
    await once(socket, 'close');
    expect(bytes).toBeLessThan(LONG.length);
  });

  it('that reads in time gets everything', async () => {
    const { url, store, token } = await startHolder({ settings: { requestTimeoutMs: 10_000 } });
    store.put('job-1', LONG);
    const response = await fetch(url + PATH, { headers: bearer(token) });
    expect((await response.arrayBuffer()).byteLength).toBe(LONG.length);
  });
});
