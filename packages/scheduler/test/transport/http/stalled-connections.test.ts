import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { closeStalledConnections } from '../../../src/transport/http/connections/stalled-connections.ts';
import { createSteppedClock } from '../ws/stepped-clock.ts';

const SILENT_MS = 60_000;
const ASK = 'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n';
const UPGRADE = 'GET / HTTP/1.1\r\nHost: localhost\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n';
const closing: (() => void)[] = [];

afterEach(() => {
  for (const close of closing.splice(0)) close();
});

async function start(listen: (server: Server) => void = () => {}, answer: string | Buffer = 'hello') {
  const clock = createSteppedClock();
  const server = createServer((_, response) => response.end(answer));
  closeStalledConnections(server, clock, SILENT_MS);
  listen(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closing.push(() => {
    server.closeAllConnections();
    server.close();
  });
  async function open(): Promise<Socket> {
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
    closing.push(() => socket.destroy());
    await Promise.all([once(socket, 'connect'), once(server, 'connection')]);
    return socket;
  }
  return { clock, server, open };
}

async function ask(socket: Socket, text = ASK): Promise<void> {
  socket.write(text);
  await once(socket, 'data');
}

it('a connection without traffic for the limit is closed', async () => {
  const { clock, open } = await start();
  const [silent, busy] = [await open(), await open()];
  await ask(silent);
  const cut = once(silent.resume(), 'close').then(() => 'cut');
  for (let passed = 0; passed < 2 * SILENT_MS; passed += SILENT_MS / 4) {
    await ask(busy);
    clock.advance(SILENT_MS / 4);
  }
  expect(await cut).toBe('cut');
  await ask(busy);
});

it('a connection that was idle for less stays open', async () => {
  const { clock, open } = await start();
  const socket = await open();
  await ask(socket);
  clock.advance(SILENT_MS / 6);
  clock.advance(SILENT_MS - 1);
  await ask(socket);
});

it("a long reply in progress is left to the server's own timeout", async () => {
  const { clock, server, open } = await start(undefined, Buffer.alloc(32 * 1024 * 1024));
  const connected = once(server, 'connection');
  const socket = (await open()).pause();
  const [held] = (await connected) as [Socket];
  socket.write(ASK);
  await once(server, 'request');
  clock.advance(SILENT_MS / 6);
  clock.advance(2 * SILENT_MS);
  expect(held.destroyed).toBe(false);
  expect(held.timeout).toBe(SILENT_MS);
});

it('a connection that became a WebSocket is not closed', async () => {
  const { clock, open } = await start((server) =>
    server.on('upgrade', (_, socket) => {
      socket.on('error', () => {});
      socket.on('data', () => socket.write('pong'));
      socket.write('HTTP/1.1 101 Switching Protocols\r\n\r\n');
    }),
  );
  const socket = await open();
  await ask(socket, UPGRADE);
  clock.advance(5 * SILENT_MS);
  await ask(socket, 'ping');
});

it('watching connections does not enable upgrades', async () => {
  const { server } = await start();
  expect(server.listenerCount('upgrade')).toBe(0);
});
