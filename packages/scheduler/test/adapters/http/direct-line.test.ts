/** Instances are asked directly over real HTTP. */
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it } from 'vitest';
import { createDirectLine } from '../../../src/adapters/http/direct-line.ts';
import { DIRECT_PATH } from '../../../src/ports/direct-line.ts';
import { directLineContract } from '../../contracts/direct-line.ts';

const KEY = 'a key of the test';

async function startInstance() {
  const taken: string[] = [];
  const connections = new Set<unknown>();
  const act: Record<string, (response: ServerResponse, text: string) => void> = {
    '/there': (response, text) => response.end(`re: ${text}`),
    '/busy': (response) => response.writeHead(503).end(),
    '/silent': () => {},
    '/broken': (response) => response.destroy(),
    '/half': (response) => response.writeHead(200, { 'content-length': 100 }).end('re:'),
    '/moved': (response) => response.writeHead(307, { location: `/there${DIRECT_PATH}` }).end(),
    '/too-long': (response) => response.writeHead(413).end(),
    '/failing': (response) => response.writeHead(500).end(),
  };
  const server = createServer((request, response) => {
    connections.add(request.socket);
    const path = (request.url ?? '').slice(0, -DIRECT_PATH.length);
    if (request.headers.authorization !== `Bearer ${KEY}` || !request.url?.endsWith(DIRECT_PATH)) {
      response.writeHead(401).end();
      return;
    }
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString();
      if (path === '/there') taken.push(text);
      act[path]?.(response, text);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const line = createDirectLine();
  const at = (path: string) => ({ url: base + path, key: KEY });
  return {
    line,
    taken,
    connections,
    at,
    // As somebody may well write it.
    there: at('/there/'),
    busy: at('/busy'),
    silent: at('/silent'),
    broken: at('/broken'),
    moved: at('/moved'),
    absent: { url: 'http://127.0.0.1:9', key: KEY },
    async close() {
      line.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

directLineContract('HTTP', startInstance);

it('uses one connection for what is asked one after the other', async () => {
  const { line, there, connections, close } = await startInstance();
  for (let at = 0; at < 5; at += 1) await line.ask(there, `${at}`, 1_000);
  expect(connections.size).toBe(1);
  await close();
});

it('takes no half of an answer for an answer, nor a failure for a refusal', async () => {
  const { line, at, close } = await startInstance();
  expect(await line.ask(at('/half'), 'well?', 200)).toEqual({ kind: 'unclear' });
  expect(await line.ask(at('/failing'), 'well?', 1_000)).toEqual({ kind: 'unclear' });
  await close();
});

it('takes nobody for absent who refuses what is too long', async () => {
  const { line, at, close } = await startInstance();
  expect(await line.ask(at('/too-long'), 'well?', 1_000)).toEqual({ kind: 'busy' });
  await close();
});
