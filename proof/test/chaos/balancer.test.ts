/** The balancer uses its backends in turn, skips dead ones, reads messages without changing them, and can be slow. */
import { type AddressInfo, connect, createServer, type Server } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import WebSocket, { WebSocketServer } from 'ws';
import { createBalancer, liveNear, takeTurns } from '../../src/chaos/wire/balancer.ts';
import { call } from '../../src/chaos/wire/call.ts';
import { createFrameReader } from '../../src/chaos/wire/socket-frames.ts';
import { eventually } from '../../src/eventually.ts';

async function listening(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

/** Answers every request with its name. */
const startNamed = (name: string): Promise<number> =>
  listening(
    createServer((socket) => {
      socket.on('error', () => {});
      socket.once('data', () =>
        socket.end(
          `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${name.length + 2}\r\n\r\n"${name}"`,
        ),
      );
    }),
  );

async function startBalancer(options: Parameters<typeof createBalancer>[0]) {
  const balancer = await createBalancer(options);
  onTestFinished(balancer.close);
  return balancer;
}

describe('a balancer', () => {
  it('sends each connection to the next living backend', async () => {
    const all = [
      { instance: 'a', port: await startNamed('a') },
      { instance: 'dead', port: 1 },
      { instance: 'b', port: await startNamed('b') },
    ];
    const { port } = await startBalancer({ backends: takeTurns(() => all) });
    const names: unknown[] = [];
    for (let number = 0; number < 6; number += 1) names.push((await call(port, 'GET', '/')).body);
    expect(names).toEqual(['a', 'b', 'b', 'a', 'b', 'b']);
  });

  it('keeps clients near an instance on that instance', async () => {
    const all = [
      { instance: 'a', port: await startNamed('a') },
      { instance: 'b', port: await startNamed('b') },
    ];
    const { port } = await startBalancer({ backends: liveNear(1, () => all) });
    expect([(await call(port, 'GET', '/')).body, (await call(port, 'GET', '/')).body]).toEqual(['b', 'b']);
  });

  it('reads long and short messages to clients, and can be cut', async () => {
    const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
    onTestFinished(() => void server.close());
    await new Promise((resolve) => server.once('listening', resolve));
    const texts = ['short', 'm'.repeat(3_000), 'l'.repeat(90_000)];
    server.on('connection', (socket) => {
      socket.ping('between');
      for (const text of texts) socket.send(text);
      socket.on('error', () => {});
    });
    const seen: string[] = [];
    const received: string[] = [];
    const balancer = await startBalancer({
      backends: () => [{ instance: 'a', port: (server.address() as AddressInfo).port }],
      onText: (text, instance) => seen.push(`${instance} ${text}`),
    });
    const client = new WebSocket(`ws://127.0.0.1:${balancer.port}`);
    client.on('message', (data) => received.push(data.toString()));
    client.on('error', () => {});
    await eventually(() => received.length === 3);
    expect(received).toEqual(texts);
    expect(seen).toEqual(texts.map((text) => `a ${text}`));
    const closed = new Promise((resolve) => client.once('close', resolve));
    balancer.cut();
    expect(await closed).toBe(1006);
  });
});

describe('a slow connection', () => {
  async function startEcho() {
    const port = await listening(
      createServer((socket) => {
        socket.on('error', () => {});
        socket.pipe(socket);
      }),
    );
    return startBalancer({ backends: () => [{ instance: 'echo', port }] });
  }

  it('holds all data for the given time, then delivers it in order', async () => {
    const wire = await startEcho();
    const socket = connect(wire.port, '127.0.0.1');
    onTestFinished(() => void socket.destroy());
    let received = '';
    socket.on('data', (bytes) => {
      received += bytes.toString();
    });
    socket.write('one ');
    await eventually(() => received === 'one ');
    wire.delay(Number.POSITIVE_INFINITY);
    for (const word of ['two ', 'three ']) {
      socket.write(word);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    expect(received).toBe('one ');
    wire.delay(30);
    socket.write('four');
    wire.delay(0);
    await eventually(() => received === 'one two three four');
  });

  it('delays both directions, and accepts no connection while it holds data', async () => {
    const wire = await startEcho();
    wire.delay(Number.POSITIVE_INFINITY);
    const socket = connect(wire.port, '127.0.0.1');
    onTestFinished(() => void socket.destroy());
    const answered = new Promise<number>((resolve) => socket.once('data', () => resolve(performance.now())));
    socket.write('hello');
    const startedAt = performance.now();
    wire.delay(40);
    expect((await answered) - startedAt).toBeGreaterThanOrEqual(79);
  });

  it('delivers pending data before it reports the end', async () => {
    const wire = await startEcho();
    wire.delay(30);
    const socket = connect(wire.port, '127.0.0.1');
    let received = '';
    socket.on('data', (bytes) => {
      received += bytes.toString();
    });
    const closed = new Promise((resolve) => socket.once('close', resolve));
    socket.end('the last word');
    await closed;
    expect(received).toBe('the last word');
  });
});

describe('a reader of frames', () => {
  const HEAD = Buffer.from('HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\n\r\n');
  const frame = (first: number, text: string) =>
    Buffer.concat([Buffer.from([first, text.length]), Buffer.from(text)]);

  it('assembles frames that arrive byte by byte, with a ping in between', () => {
    const texts: string[] = [];
    const read = createFrameReader((text) => texts.push(text));
    const bytes = Buffer.concat([
      HEAD,
      frame(0x81, 'one'),
      frame(0x01, 'tw'),
      frame(0x89, 'ping'),
      frame(0x80, 'o'),
    ]);
    for (const byte of bytes) read(Buffer.from([byte]));
    expect(texts).toEqual(['one', 'two']);
  });

  it('ignores what is no WebSocket', () => {
    const texts: string[] = [];
    const read = createFrameReader((text) => texts.push(text));
    read(Buffer.from('HTTP/1.1 503 Service Unavailable\r\n\r\n'));
    read(frame(0x81, 'one'));
    expect(texts).toEqual([]);
  });
});
