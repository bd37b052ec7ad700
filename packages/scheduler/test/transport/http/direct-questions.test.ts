/** POST /internal/v1/questions: who may ask an instance directly, and how much at a time. */
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { describe, expect, it, onTestFinished } from 'vitest';
import { DIRECT_PATH } from '../../../src/ports/direct-line.ts';
import type { HttpServices } from '../../../src/transport/http/server/http-services.ts';
import { eventually } from '../../support/eventually.ts';
import { TOKENS } from '../access/settings.ts';
import { bearer, startServer } from './start-server.ts';

const KEY = 'the-key-of-this-life';
const MAX_CONCURRENT = 500;

async function startAsked(options: Parameters<typeof startServer>[0] = {}) {
  const heard: string[] = [];
  const state = {
    key: KEY as string | undefined,
    answer: (text: string): Promise<string | undefined> => Promise.resolve(`{"answer":"${text}"}`),
  };
  const direct: HttpServices['direct'] = {
    key: () => state.key,
    answer(text) {
      heard.push(text);
      return state.answer(text);
    },
  };
  const server = await startServer({ ...options, services: { direct } });
  const ask = (text: string, headers: Record<string, string> = bearer(KEY)) =>
    server.post(DIRECT_PATH, text, { 'content-type': 'text/plain', ...headers });
  return { ...server, heard, state, ask };
}

describe('a question of another instance', () => {
  it('is answered to whoever has the key, to be kept by nobody on the way', async () => {
    const { ask, heard } = await startAsked();
    const { status, headers, body } = await ask('你好');
    expect([status, body, headers.get('cache-control')]).toEqual([200, { answer: '你好' }, 'no-store']);
    expect(heard).toEqual(['你好']);
  });

  it('is refused without the key, and nothing is done', async () => {
    const { ask, state, heard } = await startAsked({ access: { tokens: TOKENS } });
    const wrong = [{}, bearer(`${KEY}x`), bearer(''), bearer('operator-token'), bearer('node-token')];
    for (const headers of [...wrong, { authorization: `Basic ${KEY}` }])
      expect(await ask('?', headers)).toMatchObject({ status: 401, body: { error: 'UNAUTHORIZED' } });
    state.key = undefined;
    for (const headers of [bearer(KEY), bearer('undefined'), {}])
      expect((await ask('?', headers)).status).toBe(401);
    expect(heard).toEqual([]);
  });

  it('is refused before its body is read', async () => {
    const { port, heard } = await startAsked();
    const headers = { 'content-type': 'text/plain', 'content-length': 1_000 };
    const asking = request({ port, path: DIRECT_PATH, method: 'POST', headers });
    onTestFinished(() => void asking.destroy());
    asking.flushHeaders();
    const [{ statusCode }] = (await once(asking, 'response')) as [IncomingMessage];
    expect([statusCode, heard]).toEqual([401, []]);
  });

  it('needs nothing but that key, from outside the trusted networks too', async () => {
    const { ask } = await startAsked({ access: { tokens: TOKENS, trustedNetworks: ['10.0.0.0/8'] } });
    expect((await ask('?')).status).toBe(200);
  });

  it('is not taken when the instance says so, nor what is too long', async () => {
    const { ask, state, heard } = await startAsked({ settings: { maxNodeBodyBytes: 1_000 } });
    state.answer = async () => undefined;
    expect((await ask('?')).status).toBe(503);
    expect((await ask('x'.repeat(1_001))).status).toBe(413);
    expect(heard).toEqual(['?']);
  });

  it('I11 bounded: is not taken while very many are handled', async () => {
    const { ask, state, heard } = await startAsked();
    const answers: (() => void)[] = [];
    state.answer = () => new Promise((resolve) => answers.push(() => resolve('{}')));
    const many = Array.from({ length: MAX_CONCURRENT }, () => ask('?'));
    await eventually(() => heard.length === MAX_CONCURRENT);
    expect((await ask('one more')).status).toBe(503);
    for (const answer of answers) answer();
    await Promise.all(many);
    state.answer = async () => '{}';
    await eventually(async () => (await ask('again')).status === 200);
  });

  it('I11 bounded: is not taken while very many are handled, though nobody waits for those any more', async () => {
    const { ask, port, state, heard } = await startAsked();
    state.answer = () => new Promise(() => {});
    const headers = { 'content-type': 'text/plain', ...bearer(KEY) };
    const gone = Array.from({ length: MAX_CONCURRENT }, () => {
      const asking = request({ port, path: DIRECT_PATH, method: 'POST', headers });
      asking.on('error', () => undefined);
      asking.end('?');
      return asking;
    });
    await eventually(() => heard.length === MAX_CONCURRENT);
    const closed = gone.map((asking) => new Promise((resolve) => asking.once('close', resolve)));
    for (const asking of gone) asking.destroy();
    await Promise.all(closed);
    for (let tries = 0; tries < 5; tries += 1) expect((await ask('one more')).status).toBe(503);
  });

  it('is no part of what is published, and of the rest nothing takes text', async () => {
    const { get, post, ask } = await startAsked();
    expect(JSON.stringify((await get('/docs/json')).body)).not.toContain('/internal');
    expect((await get(DIRECT_PATH, bearer(KEY))).status).toBe(404);
    expect((await post('/v1/job/ack', '{}', { 'content-type': 'text/plain' })).status).toBe(415);
    expect((await ask('{}', { ...bearer(KEY), 'content-type': 'application/json' })).status).toBe(503);
  });

  it('leaves no trace of itself or of the key in the log', async () => {
    const { ask, lines } = await startAsked();
    await ask('what was said');
    await ask('?', bearer('another-secret'));
    await eventually(() => lines.filter((line) => line.includes(DIRECT_PATH)).length === 2);
    for (const secret of [KEY, 'another-secret', 'what was said'])
      expect(lines.join('\n')).not.toContain(secret);
  });

  it('is asked nowhere if there is no other instance', async () => {
    const { post } = await startServer();
    expect((await post(DIRECT_PATH, {}, bearer(KEY))).status).toBe(404);
  });
});
