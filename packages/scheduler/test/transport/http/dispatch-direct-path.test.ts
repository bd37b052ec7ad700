/** A dispatch bypasses the framework's steps where possible. Clients must see no difference, whatever bytes they send. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { DISPATCH, startServer } from './start-server.ts';

const PATH = '/v1/dispatch/f2f';
const BODY = JSON.stringify(DISPATCH);

const head = (more: readonly string[], connection = 'close'): string =>
  [`POST ${PATH} HTTP/1.1`, 'Host: localhost', `Connection: ${connection}`, ...more, '', ''].join('\r\n');

const sized = (body: string, connection?: string, type = 'application/json'): string =>
  head([`Content-Type: ${type}`, `Content-Length: ${Buffer.byteLength(body)}`], connection) + body;

async function open(port: number): Promise<{ socket: Socket; ended: Promise<string> }> {
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  let answer = '';
  socket.on('data', (data) => {
    answer += data;
  });
  return { socket, ended: once(socket, 'close').then(() => answer) };
}

async function speak(port: number, text: string): Promise<string> {
  const { socket, ended } = await open(port);
  socket.write(text);
  return ended;
}

const bodyOf = (answer: string) => JSON.parse(answer.slice(answer.indexOf('\r\n\r\n') + 4));

describe('dispatch on the direct path', () => {
  it('content-length, chunked encoding and content types get the same reply', async () => {
    const { port, engine } = await startServer();
    const chunked = head(['Content-Type: application/json', 'Transfer-Encoding: chunked']);
    const texts = [
      sized(BODY),
      sized(BODY, 'close', 'application/json; charset=utf-8'),
      sized(BODY, 'close', 'Application/JSON;charset="utf-8"'),
      `${chunked}${BODY.length.toString(16)}\r\n${BODY}\r\n0\r\n\r\n`,
      sized(`${BODY}${' '.repeat(20_000)}`),
    ];
    for (const text of texts) {
      const answer = await speak(port, text);
      expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
      expect(answer).toMatch(/\r\ncontent-type: application\/json; charset=utf-8\r\n/i);
      const { utterance_index, ...rest } = bodyOf(answer);
      expect(utterance_index).toBe(engine.dispatched.at(-1)?.spec.utteranceIndex);
      expect(rest).toEqual({
        job_id: [...engine.records.keys()].at(-1),
        node_id: 'node-1',
        attempt_id: 1,
        state: 'DISPATCHED',
      });
    }
    expect(engine.dispatched).toHaveLength(texts.length);
  });

  it('an absent or empty body gives an error with the missing field', async () => {
    const { port } = await startServer();
    for (const body of ['{}', 'null'])
      for (const type of ['application/json', 'Application/JSON'])
        expect(bodyOf(await speak(port, sized(body, 'close', type)))).toMatchObject({ field: '/session_id' });
  });

  it('a body may arrive in pieces, split inside a character', async () => {
    const { port, engine } = await startServer();
    const bytes = Buffer.from(sized(JSON.stringify({ ...DISPATCH, audio_ref: 'blob://日本' })));
    const { socket, ended } = await open(port);
    socket.setNoDelay(true);
    const cut = bytes.indexOf(Buffer.from('日')) + 1;
    for (const piece of [bytes.subarray(0, 30), bytes.subarray(30, cut), bytes.subarray(cut)]) {
      socket.write(piece);
      // The piece is not sent together with the next one: the server has read it when it has answered another
      // request.
      await speak(port, 'GET /health/live HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n');
    }
    expect(await ended).toMatch(/^HTTP\/1\.1 200 /);
    expect(engine.dispatched[0]?.spec.audio).toEqual({ kind: 'reference', url: 'blob://日本' });
  });

  it('pipelined requests are answered in order', async () => {
    const { port, engine } = await startServer();
    const answer = await speak(
      port,
      sized(BODY, 'keep-alive') + sized('{"session_id":5}', 'keep-alive') + sized(BODY),
    );
    expect(answer.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 400', 'HTTP/1.1 200']);
    expect(engine.dispatched).toHaveLength(2);
  });

  it('invalid JSON ends the connection', async () => {
    const { port, counts } = await startServer();
    for (const type of ['application/json', 'application/json;charset=utf-8']) {
      const answer = await speak(port, sized('{', 'keep-alive', type));
      expect(answer).toMatch(/^HTTP\/1\.1 400 /);
      expect(answer).toMatch(/\r\nconnection: close\r\n/i);
      expect(bodyOf(answer)).toMatchObject({ error: 'INVALID_MESSAGE' });
    }
    expect(counts.get('scheduler_invalid_messages_total http')).toBe(2);
  });

  it('a client that leaves during its body affects no other client', async () => {
    const { port, post, engine, counts } = await startServer();
    const { socket, ended } = await open(port);
    socket.write(sized(BODY).slice(0, -10));
    await speak(port, 'GET /health/live HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n');
    socket.destroy();
    await ended;
    expect((await post(PATH, DISPATCH)).status).toBe(200);
    expect(engine.dispatched).toHaveLength(1);
    await expect.poll(() => counts.get('scheduler_invalid_messages_total http')).toBe(1);
  });

  it('a body beyond the limit is refused, however small the limit', async () => {
    const { post, engine } = await startServer({ settings: { maxBodyBytes: 64 } });
    expect(await post(PATH, DISPATCH)).toMatchObject({ status: 413, body: { error: 'PAYLOAD_TOO_LARGE' } });
    expect(engine.dispatched).toEqual([]);
  });

  it('a thrown or rejected fault is answered without its message', async () => {
    for (const dispatch of [
      () => {
        throw new Error('secret');
      },
      () => Promise.reject(new Error('secret')),
      () => Promise.reject('secret'),
    ]) {
      const { engine } = await startServer();
      const { post } = await startServer({ services: { jobs: { ...engine.jobs, dispatch } } });
      const answer = await post(PATH, DISPATCH);
      expect(answer).toMatchObject({ status: 500, body: { error: 'INTERNAL_ERROR' } });
      expect(JSON.stringify(answer.body)).not.toContain('secret');
    }
  });

  it('CORS headers and request logging work on the direct path', async () => {
    const { post, lines } = await startServer({
      settings: { corsOrigins: ['https://app.example'] },
      access: { allowedOrigins: ['https://app.example'] },
    });
    const answer = await post(PATH, DISPATCH, { origin: 'https://app.example' });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('access-control-allow-origin')).toBe('https://app.example');
    const plain = await startServer();
    await plain.post(PATH, DISPATCH);
    for (const written of [lines, plain.lines])
      await expect.poll(() => written.some((line) => /"status":200.*request answered/.test(line))).toBe(true);
  });
});
