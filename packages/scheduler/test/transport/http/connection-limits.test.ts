/** Limits of HTTP connections (I11): idle, half-open, slow and busy ones. */
import { EventEmitter, once } from 'node:events';
import type { Server } from 'node:http';
import { connect, type Socket } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { createConnectionLimits } from '../../../src/transport/http/connections/connection-limits.ts';
import { eventually } from '../../support/eventually.ts';
import { DISPATCH, startServer } from './start-server.ts';

const ASK = 'GET /health/live HTTP/1.1\r\nHost: localhost\r\n\r\n';
const LONG_POLL = (jobId: string) => `GET /v1/job/${jobId}?wait_ms=60000 HTTP/1.1\r\nHost: localhost\r\n\r\n`;

/** `from`: a loopback address. */
async function open(port: number, from = '127.0.0.1'): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', localAddress: from });
  onTestFinished(() => void socket.destroy());
  socket.on('error', () => {});
  await once(socket, 'connect');
  return socket.resume();
}

const openMany = async (count: number, port: number, from?: string): Promise<Socket[]> => {
  const sockets: Socket[] = [];
  for (let at = 0; at < count; at += 1) sockets.push(await open(port, from));
  return sockets;
};

async function ask(socket: Socket, text = ASK): Promise<string> {
  socket.write(text);
  const [reply] = await once(socket, 'data');
  return String(reply);
}

it('the idle connections of an IPv6 network count together, and its proxies on their own', () => {
  const limits = createConnectionLimits({
    meter: { count() {} },
    maxIdle: 100,
    maxIdlePerAddress: 2,
    maxBusy: 100,
    isProxy: (address) => address === '2001:db8:0:1::99',
    isAlwaysServed: () => false,
  });
  const server = new EventEmitter();
  limits.watch(server as Server);
  const openFrom = (remoteAddress: string): void => {
    server.emit('connection', Object.assign(new EventEmitter(), { remoteAddress, destroy() {} }));
  };
  for (let host = 1; host <= 5; host += 1) openFrom(`2001:db8:0:1::${host}`);
  expect(limits.levels().idle).toBe(2);
  for (let count = 0; count < 3; count += 1) openFrom('2001:db8:0:1::99');
  openFrom('2001:db8:0:2::1');
  expect(limits.levels().idle).toBe(6);
});

it('the oldest idle connection of an address makes room, others stay', async () => {
  const { server, port, counts } = await startServer({ settings: { maxIdleConnectionsPerAddress: 3 } });
  const other = await open(port, '127.0.0.2');
  const [used, oldest, newer] = await openMany(3, port);
  await ask(used as Socket);
  const cut = once(oldest as Socket, 'close');
  const newest = await open(port);
  await cut;
  for (const socket of [used, newer, newest, other]) expect(await ask(socket as Socket)).toContain('200 OK');
  expect(counts.get('scheduler_connections_refused_total idle_address')).toBe(1);
  expect(server.connections()).toEqual({ idle: 4, busy: 0 });
});

it('a flood of half-open connections of many addresses is bounded in total', async () => {
  const { server, port, counts, get } = await startServer({ settings: { maxIdleConnections: 4 } });
  for (let at = 1; at <= 20; at += 1) await open(port, `127.0.1.${at}`);
  await eventually(() => counts.get('scheduler_connections_refused_total idle_total') === 16);
  expect(server.connections()).toEqual({ idle: 4, busy: 0 });
  expect((await get('/health')).status).toBe(200);
});

it('a trusted proxy has no limit of its own', async () => {
  const { server, port } = await startServer({
    settings: { maxIdleConnectionsPerAddress: 1, trustedProxies: ['127.0.0.9/32'] },
  });
  await openMany(5, port, '127.0.0.9');
  await eventually(() => server.connections().idle === 5);
});

it('a connection that waits for its reply is not idle', async () => {
  const { port, server, post } = await startServer({ settings: { maxIdleConnectionsPerAddress: 2 } });
  const { body } = await post('/v1/dispatch/f2f', DISPATCH);
  const waiting: Socket[] = [];
  for (const busy of [1, 2, 3]) {
    const socket = await open(port);
    socket.write(LONG_POLL(body.job_id));
    waiting.push(socket);
    await eventually(() => server.connections().busy === busy);
  }
  await openMany(4, port);
  expect(waiting.map((socket) => socket.destroyed)).toEqual([false, false, false]);
  for (const socket of waiting) socket.destroy();
  await eventually(() => server.connections().busy === 0);
});

it('health answers while every other request is refused as too busy', async () => {
  const { port, server, post, get, counts } = await startServer({ settings: { maxConnections: 2 } });
  const { body } = await post('/v1/dispatch/f2f', DISPATCH);
  for (const socket of await openMany(2, port)) socket.write(LONG_POLL(body.job_id));
  await eventually(() => server.connections().busy === 2);
  expect(await get('/v1/job/x')).toMatchObject({ status: 429, body: { error: 'RATE_LIMITED' } });
  for (const path of ['/health', '/health/live', '/health/ready']) expect((await get(path)).status).toBe(200);
  expect(counts.get('scheduler_connections_refused_total busy')).toBe(1);
});

it('an upgraded connection is no longer counted here', async () => {
  const { server, port } = await startServer();
  const upgraded = once(server.app.server, 'upgrade');
  const socket = await open(port);
  socket.write('GET / HTTP/1.1\r\nHost: localhost\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n');
  const [, accepted] = await upgraded;
  expect(server.connections()).toEqual({ idle: 0, busy: 0 });
  accepted.destroy();
});

it.each([
  ['no byte at all', ''],
  ['half of the headers', 'GET /health HTTP/1.1\r\nHost: local'],
])('a connection with %s ends at the headers timeout and is counted', async (_name, text) => {
  const { port, counts } = await startServer({ settings: { headersTimeoutMs: 50, requestTimeoutMs: 100 } });
  const socket = await open(port);
  socket.write(text);
  await once(socket, 'close');
  expect(counts.get('scheduler_connections_refused_total too_slow')).toBe(1);
});
