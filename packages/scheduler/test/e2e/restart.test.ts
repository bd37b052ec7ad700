/** The listening address of a scheduler, and its restart. */
import { connect } from 'node:net';
import { beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { ensureBuilt } from './support/ensure-built.ts';
import { connectLegacyNode } from './support/legacy-node.ts';
import { lingua } from './support/lingua.ts';
import { createClient } from './support/start-app.ts';

beforeAll(ensureBuilt, 150_000);

describe('restarted scheduler', () => {
  it('a restarted scheduler listens on its port and is ready', async () => {
    const before = lingua(['serve', '--port', '0']);
    const url = await before.url();
    const { port } = new URL(url);
    const node = connectLegacyNode({ url: `${url.replace('http', 'ws')}/ws/node`, reconnectMs: 60_000 });
    await node.registered();
    before.signal('SIGTERM');
    await eventually(() => !node.isOpen());
    expect(await before.ended).toEqual({ code: 0, signal: null });
    const after = lingua(['serve', '--port', port]);
    const again = await after.url();
    expect((await createClient(again).get('/health/ready')).status).toBe(200);
  });

  it('the port can be bound while old connections are still closing', async () => {
    const before = lingua(['serve', '--port', '0']);
    const { port } = new URL(await before.url());
    const client = connect(Number(port), '127.0.0.1');
    client.on('error', () => {});
    await new Promise((resolve) => client.once('connect', resolve));
    before.signal('SIGKILL');
    await before.ended;
    expect(new URL(await lingua(['serve', '--port', port]).url()).port).toBe(port);
    client.destroy();
  });
});

describe('a scheduler listens on IPv4', () => {
  const TOKEN = 'server.tokens=[{"token":"a-token-of-16-characters","role":"operator"}]';

  it.each([
    ['as it is', []],
    ['on every address', ['--host', '0.0.0.0', '--set', TOKEN]],
    ['by the name of this machine', ['--host', 'localhost']],
  ])('%s', async (_, flags) => {
    const server = lingua(['serve', '--port', '0', ...flags]);
    const { port } = new URL(await server.url());
    expect((await fetch(`http://127.0.0.1:${port}/health/live`)).status).toBe(200);
  });
});
