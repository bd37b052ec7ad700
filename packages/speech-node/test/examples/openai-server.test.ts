/** Engines on a server with OpenAI's interface, as examples/openai-server.js shows, against a small server of the test's own. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { readWav, writeWav } from '../../src/audio/wav.ts';
import { recognizerContract } from '../contracts/recognizer-contract.ts';
import { synthesizerContract } from '../contracts/synthesizer-contract.ts';
import { translatorContract } from '../contracts/translator-contract.ts';
import { NEVER } from '../support/never.ts';
import { openAiServer, SMALL } from './examples.ts';

const KEY = 'sk-test';
let server: Server;
let url = '';
const seen: { readonly path: string; readonly authorization: string | undefined }[] = [];

/** Recognises the length of the sound, translates into its instruction and the text, speaks a tone as long as the text. */
async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  seen.push({ path: request.url ?? '', authorization: request.headers.authorization });
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  const body = Buffer.concat(parts);
  const [, first = '', path] = request.url?.split('/') ?? [];
  // A server that never answers.
  if (first === 'hang') return;
  const end = (type: string, reply: string | Uint8Array) => {
    response.writeHead(200, { 'content-type': type });
    response.end(reply);
  };
  if (path === 'audio' && request.url?.endsWith('transcriptions')) {
    const { samples, sampleRate } = readWav(body.subarray(body.indexOf('RIFF')));
    expect(body.toString('latin1')).toMatch(/name="model"\r\n\r\nears\r\n/);
    end('application/json', JSON.stringify({ text: ` heard ${samples.length} at ${sampleRate}` }));
  } else if (path === 'chat') {
    const { messages } = JSON.parse(body.toString()) as { messages: readonly { readonly content: string }[] };
    const into = /to (\w+)\./.exec(messages[0]?.content ?? '')?.[1];
    end(
      'application/json',
      JSON.stringify({ choices: [{ message: { content: `${into}: ${messages[1]?.content}` } }] }),
    );
  } else if (path === 'audio') {
    const { input } = JSON.parse(body.toString()) as { input: string };
    const tone = Int16Array.from({ length: 4_000 * input.length }, (_, at) => 9_000 * Math.sin(at / 8));
    end('audio/wav', writeWav(tone, 24_000));
  } else {
    response.writeHead(404).end('no such model');
  }
}

beforeAll(async () => {
  // Aborted calls break their requests off.
  server = createServer(
    (request, response) => void answer(request, response).catch(() => response.destroy()),
  );
  await once(server.listen(0, '127.0.0.1'), 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

const at = (name: 'v1' | 'hang' | 'absent') => ({ url: `${url}/${name}`, key: KEY });
const sound = (samples: number) => new Float32Array(samples).fill(0.5);

recognizerContract('a server', {
  open: async () => openAiServer.serverRecognizer(at('v1'), 'ears', ['en']),
  openSmall: async () => openAiServer.serverRecognizer(at('hang'), 'ears', ['en'], SMALL),
  language: 'en',
  utterances: async () =>
    [8_000, 16_000].map((samples) => [sound(samples), new RegExp(`^heard ${samples} at 16000$`)] as const),
});

translatorContract('a server', {
  open: async () => openAiServer.serverTranslator(at('v1'), 'words', ['en', 'es']),
  openBusy: async () => openAiServer.serverTranslator(at('hang'), 'words', ['en', 'es'], SMALL),
  pair: { source: 'en', target: 'es' },
  known: [['The museum is closed.', /^Spanish: The museum is closed\.$/]],
});

synthesizerContract('a server', {
  open: () => openAiServer.serverSynthesizer(at('v1'), 'voice', ['es']),
  openBusy: () => openAiServer.serverSynthesizer(at('hang'), 'voice', ['es'], SMALL),
  language: 'es',
});

it('the key is sent, and a refusal is told with the status and the reason', async () => {
  const translator = openAiServer.serverTranslator(at('absent'), 'words', ['en', 'es']);
  const call = translator.translate('hello', { source: 'en', target: 'es' }, NEVER);
  await expect(call).resolves.toBe('Spanish: hello');
  expect(seen).toContainEqual({ path: '/absent/chat/completions', authorization: `Bearer ${KEY}` });
  const broken = openAiServer.serverTranslator({ url: `${url}/v1/other` }, 'words', ['en', 'es']);
  await expect(broken.translate('hello', { source: 'en', target: 'es' }, NEVER)).rejects.toThrow(
    /404 no such model/,
  );
});

it('an engine without its model is left to the built-in one', () => {
  expect(openAiServer.default({})).toEqual({});
  expect(Object.keys(openAiServer.default({ NMT_MODEL: 'x' }))).toEqual(['translators']);
});
