/** A dispatch is handled without the framework's steps where it can be: nobody may notice, whatever the bytes look like. */
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

describe('a dispatch handled directly', () => {
  it('is answered alike with a length, in chunks, and whatever its type is written like', async () => {
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

  it('names the field that is missing, also where there is nothing at all', async () => {
    const { port } = await startServer();
    for (const body of ['{}', 'null'])
      for (const type of ['application/json', 'Application/JSON'])
        expect(bodyOf(await speak(port, sized(body, 'close', type)))).toMatchObject({ field: '/session_id' });
  });

  it('may come in pieces, cut within a message too', async () => {
    const { port, engine } = await startServer();
    const bytes = Buffer.from(sized(JSON.stringify({ ...DISPATCH, audio_ref: 'blob://日本' })));
    const { socket, ended } = await open(port);
    socket.setNoDelay(true);
    const cut = bytes.indexOf(Buffer.from('日')) + 1;
    for (const piece of [bytes.subarray(0, 30), bytes.subarray(30, cut), bytes.subarray(cut)]) {
      socket.write(piece);
      // Not sent together with the next: the server has read it once it has answered somebody else.
      await speak(port, 'GET /health/live HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n');
    }
    expect(await ended).toMatch(/^HTTP\/1\.1 200 /);
    expect(engine.dispatched[0]?.spec.audio).toEqual({ kind: 'reference', url: 'blob://日本' });
  });

  it('is answered in the order of requests that did not wait for one another', async () => {
    const { port, engine } = await startServer();
    const answer = await speak(
      port,
      sized(BODY, 'keep-alive') + sized('{"session_id":5}', 'keep-alive') + sized(BODY),
    );
    expect(answer.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 400', 'HTTP/1.1 200']);
    expect(engine.dispatched).toHaveLength(2);
  });

  it('ends the connection after what is no JSON, as the framework does', async () => {
    const { port, counts } = await startServer();
    for (const type of ['application/json', 'application/json;charset=utf-8']) {
      const answer = await speak(port, sized('{', 'keep-alive', type));
      expect(answer).toMatch(/^HTTP\/1\.1 400 /);
      expect(answer).toMatch(/\r\nconnection: close\r\n/i);
      expect(bodyOf(answer)).toMatchObject({ error: 'INVALID_MESSAGE' });
    }
    expect(counts.get('scheduler_invalid_messages_total http')).toBe(2);
  });

  it('harms nobody when its client leaves in the middle', async () => {
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

  it('refuses a body beyond the limit, however small that is', async () => {
    const { post, engine } = await startServer({ settings: { maxBodyBytes: 64 } });
    expect(await post(PATH, DISPATCH)).toMatchObject({ status: 413, body: { error: 'PAYLOAD_TOO_LARGE' } });
    expect(engine.dispatched).toEqual([]);
  });

  it('answers a fault, thrown or promised, without its words', async () => {
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

  it('has the headers for pages of listed origins, and is logged', async () => {
    const { post, lines } = await startServer({ settings: { corsOrigins: ['https://app.example'] } });
    const answer = await post(PATH, DISPATCH, { origin: 'https://app.example' });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('access-control-allow-origin')).toBe('https://app.example');
    const plain = await startServer();
    await plain.post(PATH, DISPATCH);
    for (const written of [lines, plain.lines])
      await expect.poll(() => written.some((line) => /"status":200.*request answered/.test(line))).toBe(true);
  });
});
