/** The HTTP client of long loads does not write to a connection that the server has closed. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { createHttpLanes } from '../src/contest/http-lanes.ts';

it('an idle connection that was closed is replaced, and its request answered', async () => {
  const server = createServer((_request, reply) => reply.end('done'));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  let opened = 0;
  server.on('connection', () => {
    opened += 1;
  });
  const lanes = createHttpLanes((server.address() as AddressInfo).port, '/');
  for (const expected of [1, 2]) {
    const closed = once(server, 'connection').then(([socket]) => once(socket, 'close'));
    expect(await lanes.post('{}')).toEqual({ status: 200, body: 'done' });
    expect(await lanes.post('{}')).toEqual({ status: 200, body: 'done' });
    expect(opened).toBe(expected);
    server.closeAllConnections();
    await closed;
    // The client is notified in a later turn of the event loop.
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
});
