/** Audio is fetched over real HTTP. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it } from 'vitest';
import { createAudioFetcher } from '../../../src/adapters/http/audio-fetcher.ts';
import { audioFetcherContract } from '../../contracts/audio-fetcher.ts';

async function startHolder() {
  const held = new Map<string, Buffer>();
  const server = createServer((request, response) => {
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
