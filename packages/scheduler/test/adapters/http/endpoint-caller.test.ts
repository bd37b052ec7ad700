import type { lookup } from 'node:dns';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { createEndpointCaller } from '../../../src/adapters/http/endpoint-caller.ts';
import { createNetworks } from '../../../src/transport/access/networks.ts';

const ends: (() => void)[] = [];

afterEach(() => {
  for (const end of ends.splice(0)) end();
});

/** A node's endpoint on loopback, and what it received. */
async function endpoint(answer: RequestListener) {
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
  ends.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return { port: (server.address() as AddressInfo).port, bodies, server };
}

function caller(networks: readonly string[], resolve?: typeof lookup) {
  const created = createEndpointCaller({ networks: createNetworks(networks), ...(resolve && { resolve }) });
  ends.push(created.close);
  return created;
}

/** A name server that answers every name with these addresses. */
const resolvesTo = (...addresses: string[]): typeof lookup =>
  ((_host: string, _options: unknown, done: (error: null, found: unknown) => void) =>
    done(
      null,
      addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
    )) as never;

const status =
  (code: number, headers: Record<string, string> = {}): RequestListener =>
  (_request, response) =>
    response.writeHead(code, headers).end('{"ok":true}');

const LOOPBACK = ['127.0.0.0/8'];

describe('an endpoint', () => {
  it.each([
    ['http://10.1.2.3/jobs', true],
    ['https://10.1.2.3:8443/jobs', true],
    ['http://[::ffff:10.1.2.3]/', true],
    ['http://gpu-box.internal/jobs', true],
    ['http://11.1.2.3/jobs', false],
    ['http://127.0.0.1/jobs', false],
    ['http://2130706433/', false],
    ['http://0x7f.1/', false],
    ['http://[::1]/', false],
    ['http://user:pass@10.1.2.3/', false],
    ['ftp://10.1.2.3/', false],
    ['file:///etc/passwd', false],
    ['not a url', false],
    ['', false],
  ])('%s may be registered: %s', (url, isPermitted) => {
    expect(caller(['10.0.0.0/8']).permits(url)).toBe(isPermitted);
  });

  it('may not be registered when no network is permitted', () => {
    expect(caller([]).permits('http://gpu-box.internal/jobs')).toBe(false);
  });
});

describe('posting to an endpoint', () => {
  it('hands the body over and takes 2xx as taken', async () => {
    const { port, bodies } = await endpoint(status(202));
    const result = await caller(LOOPBACK).post(`http://127.0.0.1:${port}/jobs`, '{"text":"你好"}', 5_000);
    expect(result).toEqual({ kind: 'taken' });
    expect(bodies).toEqual(['{"text":"你好"}']);
  });

  it.each([
    [429, 'overloaded', 'status_429'],
    [503, 'overloaded', 'status_503'],
    [400, 'unreachable', 'status_400'],
    [500, 'unreachable', 'status_500'],
  ])('takes %i as %s', async (code, kind, reason) => {
    const { port } = await endpoint(status(code));
    expect(await caller(LOOPBACK).post(`http://127.0.0.1:${port}/`, '{}', 5_000)).toEqual({ kind, reason });
  });

  it('ends also when the answer wants to change the protocol', async () => {
    const { port } = await endpoint((_request, response) => {
      response.socket?.end('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: any\r\n\r\n');
    });
    const result = await caller(LOOPBACK).post(`http://127.0.0.1:${port}/`, '{}', 60_000);
    expect(result).toEqual({ kind: 'unreachable', reason: 'no_answer' });
  });

  it('follows no redirect', async () => {
    const target = await endpoint(status(200));
    const { port } = await endpoint(status(307, { location: `http://127.0.0.1:${target.port}/` }));
    expect(await caller(LOOPBACK).post(`http://127.0.0.1:${port}/`, '{}', 5_000)).toEqual({
      kind: 'unreachable',
      reason: 'redirect',
    });
    expect(target.bodies).toEqual([]);
  });

  it('connects to no address outside the networks, whatever a name resolves to', async () => {
    const { port, bodies } = await endpoint(status(200));
    const outside = caller(['10.0.0.0/8'], resolvesTo('127.0.0.1', '::1'));
    expect(outside.permits(`http://rebound.example:${port}/`)).toBe(true);
    expect(await outside.post(`http://rebound.example:${port}/`, '{}', 5_000)).toMatchObject({
      kind: 'forbidden',
    });
    expect(await outside.post(`http://127.0.0.1:${port}/`, '{}', 5_000)).toMatchObject({ kind: 'forbidden' });
    expect(bodies).toEqual([]);
  });

  it('connects to the permitted one of several addresses', async () => {
    const { port, bodies } = await endpoint(status(200));
    const result = await caller(LOOPBACK, resolvesTo('10.9.9.9', '127.0.0.1')).post(
      `http://node.example:${port}/`,
      '{}',
      5_000,
    );
    expect(result).toEqual({ kind: 'taken' });
    expect(bodies).toHaveLength(1);
  });

  it('gives up on an endpoint that does not answer in time', async () => {
    const { port } = await endpoint(() => {});
    expect(await caller(LOOPBACK).post(`http://127.0.0.1:${port}/`, '{}', 30)).toEqual({
      kind: 'unreachable',
      reason: 'no answer in time',
    });
  });

  it('reads no more than a little of the answer', async () => {
    const { port } = await endpoint((_request, response) => {
      response.writeHead(200);
      const write = () => {
        while (!response.destroyed && response.write('x'.repeat(65_536))) {}
      };
      response.on('drain', write);
      response.on('error', () => {});
      write();
    });
    expect(await caller(LOOPBACK).post(`http://127.0.0.1:${port}/`, '{}', 5_000)).toEqual({ kind: 'taken' });
  });

  it('says when nobody is there', async () => {
    const { port, server } = await endpoint(status(200));
    await new Promise((resolve) => server.close(resolve));
    expect(await caller(LOOPBACK).post(`http://127.0.0.1:${port}/`, '{}', 5_000)).toEqual({
      kind: 'unreachable',
      reason: 'ECONNREFUSED',
    });
  });

  it('uses a connection again', async () => {
    const { port, server } = await endpoint(status(200));
    let connections = 0;
    server.on('connection', () => {
      connections += 1;
    });
    const { post } = caller(LOOPBACK);
    for (let count = 0; count < 3; count += 1) await post(`http://127.0.0.1:${port}/`, '{}', 5_000);
    expect(connections).toBe(1);
  });
});
