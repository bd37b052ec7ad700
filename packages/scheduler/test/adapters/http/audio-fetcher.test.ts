/** Audio is fetched over real HTTP. */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { expect, it } from 'vitest';
import { createAudioFetcher } from '../../../src/adapters/http/audio-fetcher.ts';
import { audioFetcherContract } from '../../contracts/audio-fetcher.ts';
import { certify } from '../../support/certify.ts';

async function startHolder() {
  const held = new Map<string, Buffer>();
  let isCutNext = false;
  const server = createServer((request, response) => {
    if (isCutNext) {
      isCutNext = false;
      request.socket.destroy();
      return;
    }
    const path = request.url ?? '';
    if (path === '/silent') return;
    if (path === '/moved') {
      response.writeHead(302, { location: '/1' }).end();
      return;
    }
    const isOpen = ['Bearer secret', `Signed ${path}`].includes(request.headers.authorization ?? '');
    response.writeHead(isOpen ? 200 : 403).end(isOpen ? held.get(path) : undefined);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    fetcher: createAudioFetcher(),
    base,
    cutNextUse() {
      isCutNext = true;
    },
    hold(audio: Buffer) {
      const path = `/${held.size + 1}`;
      held.set(path, audio);
      return { url: base + path, token: 'secret', bytes: audio.length };
    },
    silent: () => ({ url: `${base}/silent`, token: 'secret', bytes: 1 }),
    absent: () => ({ url: 'http://127.0.0.1:9/1', token: 'secret', bytes: 1 }),
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

audioFetcherContract('HTTP', startHolder);

it('signs a request for audio without a token', async () => {
  const holder = await startHolder();
  const { token: _, ...at } = holder.hold(Buffer.from('speech'));
  const signing = createAudioFetcher({ sign: (url) => `Signed ${new URL(url).pathname}` });
  expect(await signing.fetch(at, 1_000)).toEqual(Buffer.from('speech'));
  expect(await holder.fetcher.fetch(at, 1_000)).toBeUndefined();
  await holder.close();
});

it('follows no redirect: the token is for one address', async () => {
  const holder = await startHolder();
  const { url: _, ...at } = holder.hold(Buffer.from('speech'));
  expect(await holder.fetcher.fetch({ ...at, url: `${holder.base}/moved` }, 1_000)).toBeUndefined();
  await holder.close();
});

it('fetches over https from a server that its own authority has certified', async () => {
  const { certificate, key } = await certify();
  const [cert, audio] = [readFileSync(certificate, 'utf8'), Buffer.from('speech')];
  const server = createSecureServer({ cert, key: readFileSync(key) }, (_, response) => response.end(audio));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const at = { url: `https://127.0.0.1:${port}/1`, token: 'secret', bytes: audio.length };
  expect(await createAudioFetcher({ ca: () => cert }).fetch(at, 5_000)).toEqual(audio);
  expect(await createAudioFetcher().fetch(at, 5_000)).toBeUndefined();
  server.closeAllConnections();
  server.close();
});

it('a connection that the holder has closed is opened again', async () => {
  const holder = await startHolder();
  const at = holder.hold(Buffer.from('speech'));
  expect(await holder.fetcher.fetch(at, 5_000)).toEqual(Buffer.from('speech'));
  holder.cutNextUse();
  expect(await holder.fetcher.fetch(at, 5_000)).toEqual(Buffer.from('speech'));
  await holder.close();
});
