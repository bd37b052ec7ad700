/** Endpoints of nodes: real HTTP servers on loopback, closed after the test that opened them. */
import type { lookup } from 'node:dns';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

/** A node's endpoint, and what it received. */
export async function endpoint(answer: RequestListener) {
  const bodies: string[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (data) => {
      body += data;
    });
    request.on('end', () => {
      bodies.push(body);
      answer(request, response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { port, url: `http://127.0.0.1:${port}/jobs`, bodies, server };
}

export const status =
  (code: number, headers: Record<string, string> = {}): RequestListener =>
  (_request, response) =>
    response.writeHead(code, headers).end('{"ok":true}');

/** An address without a server. */
export async function unusedAddress(): Promise<string> {
  const { url, server } = await endpoint(() => {});
  await new Promise((resolve) => server.close(resolve));
  return url;
}

/** A name server that answers every name with these addresses. */
export const resolvesTo = (...addresses: string[]): typeof lookup =>
  ((_host: string, _options: unknown, done: (error: null, found: unknown) => void) =>
    done(
      null,
      addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
    )) as never;
