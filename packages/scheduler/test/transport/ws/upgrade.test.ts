import { request } from 'node:http';
import { connect } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { type Harness, type HarnessOptions, startHarness, until } from './harness.ts';
import { register } from './messages.ts';

let harness: Harness;
const start = async (options?: HarnessOptions) => {
  harness = await startHarness(options);
  return harness;
};
afterEach(() => harness.stop());

describe('socket upgrade', () => {
  it('a node may send its token in the header or query, or be anonymous', async () => {
    await start();
    const byHeader = await harness.connect('/ws/node', { headers: { authorization: 'Bearer secret' } });
    const byQuery = await harness.connect('/ws/node?token=secret');
    const anonymous = await harness.connect('/ws/node');
    for (const client of [byHeader, byQuery, anonymous]) client.send(register());
    await until(() => harness.registry.registrations.length === 3);
    expect(harness.registry.registrations.map(({ credential }) => credential).sort()).toEqual([
      'peer:loopback',
      'token:secret',
      'token:secret',
    ]);
  });

  it.each([
    ['an unknown token', '/ws/node?token=wrong', {}, 401, 'UNAUTHORIZED'],
    ['a token of another role', '/ws/node?token=client', {}, 403, 'FORBIDDEN'],
    ['an origin that is not allowed', '/ws/node', { origin: 'https://evil.example' }, 403, 'FORBIDDEN'],
    ['an unknown path', '/ws/other', {}, 404, 'NOT_FOUND'],
    ['a malformed URL', '//%', {}, 404, 'NOT_FOUND'],
  ])('%s is refused with an HTTP error', async (_, path, options, status, error) => {
    await start();
    const refusal = await harness.refusal(path, options);
    expect(refusal).toMatchObject({ status, body: { error } });
    expect(harness.gate.open).toBe(0);
  });

  it.each(['/ws/node', '/ws/session'])(
    '%s does not negotiate permessage-deflate, which needs ten times the memory',
    async (path) => {
      await start();
      const { ws } = await harness.connect(path, { perMessageDeflate: true });
      expect(ws.extensions).toBe('');
    },
  );

  it('a 401 reply requests a bearer token', async () => {
    await start();
    const { headers } = await harness.refusal('/ws/node?token=wrong');
    expect(headers['www-authenticate']).toBe('Bearer');
  });

  it('a draining server refuses with 503 and Retry-After', async () => {
    await start({ deps: { isDraining: () => true } });
    const { status, headers, body } = await harness.refusal();
    expect(status).toBe(503);
    expect(headers['retry-after']).toBe('2');
    expect(body).toMatchObject({ retry_after_ms: 2_000 });
    expect(harness.meter.total('scheduler_connections_refused_total', { reason: 'draining' })).toBe(1);
  });

  it('the connection limit gives 503 until a connection ends', async () => {
    await start({ maxConnections: 1 });
    const first = await harness.connect();
    expect((await harness.refusal()).status).toBe(503);
    first.ws.close();
    await until(() => harness.gate.open === 0);
    await harness.connect();
  });

  it('a closed server refuses upgrades', async () => {
    await start();
    await harness.server.close();
    expect((await harness.refusal()).status).toBe(503);
  });

  it('a malformed handshake frees its place', async () => {
    await start();
    const status = await new Promise((resolve, reject) => {
      request({
        port: harness.port,
        path: '/ws/node',
        headers: { connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-version': '13' },
      })
        .on('response', (response) => resolve(response.resume().statusCode))
        .on('error', reject)
        .end();
    });
    expect(status).toBe(400);
    expect(harness.gate.open).toBe(0);
  });

  it('a peer that resets the connection before the reply is tolerated', async () => {
    await start();
    for (const path of ['/ws/node', '/ws/node?token=wrong', '/ws/other']) {
      const raw = connect(harness.port, '127.0.0.1');
      raw.on('error', () => {});
      await new Promise((resolve) => raw.once('connect', resolve));
      raw.write(
        `GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
          'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n',
        () => raw.resetAndDestroy(),
      );
    }
    await until(() => harness.connections.length === 3 && harness.connections.every((c) => c.destroyed));
    await until(() => harness.gate.open === 0);
    await harness.connect();
  });

  it('tokens are never logged', async () => {
    await start();
    await harness.connect('/ws/node?token=secret-in-query');
    await harness.refusal('/ws/other?token=secret-in-query');
    await harness.refusal('/ws/node?token=wrong');
    const written = JSON.stringify(harness.log.lines);
    expect(written).not.toContain('secret-in-query');
    expect(written).not.toContain('token=');
  });

  it('compression is not negotiated', async () => {
    await start();
    const { ws } = await harness.connect('/ws/node', { perMessageDeflate: true });
    expect(ws.extensions).toBe('');
  });

  it('the session path accepts sockets when it is served', async () => {
    const received: string[] = [];
    await start({
      deps: {
        session: {
          path: '/ws/session',
          kind: 'session',
          role: 'client',
          maxMessageBytes: 1_024,
          open: (socket) => ({
            receive(text) {
              received.push(text);
              socket.send(text);
            },
            left() {},
            ended() {},
          }),
        },
      },
    });
    const client = await harness.connect('/ws/session');
    client.send({ type: 'echo' });
    expect(await client.message(0)).toEqual({ type: 'echo' });
    expect(harness.meter.total('scheduler_connections', { kind: 'session' })).toBe(1);
  });

  it('open sockets are counted by kind', async () => {
    await start();
    const client = await harness.connect();
    expect(harness.meter.total('scheduler_connections', { kind: 'node' })).toBe(1);
    client.ws.close();
    await until(() => harness.meter.total('scheduler_connections', { kind: 'node' }) === 0);
  });

  it('closing ends sockets with 1012 and waits for their nodes', async () => {
    await start();
    const client = await harness.connect();
    client.send(register({ node_id: 'node-a' }));
    await client.message(0);
    await harness.server.close();
    expect(harness.registry.left).toEqual([{ nodeId: 'node-a', generation: 1 }]);
    expect(harness.server.count()).toBe(0);
    expect(await client.closed).toEqual({ code: 1012, reason: 'shutdown' });
  });
});
