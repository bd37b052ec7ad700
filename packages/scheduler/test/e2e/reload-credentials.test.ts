/** Tokens change without a restart: a reload revokes and adds them, and a broken file changes nothing. */
import { describe, expect, it, onTestFinished } from 'vitest';
import WebSocket from 'ws';
import { eventually } from '../support/eventually.ts';
import { type RunningApp, startApp } from './support/start-app.ts';

const ADMIN = 'admin-token-0123456789';
const row = (name: string, role: string, ...lines: string[]): string =>
  [
    '[[server.tokens]]',
    `token = "${tokenOf(name)}"`,
    `name = "${name}"`,
    `role = "${role}"`,
    ...lines,
    '',
  ].join('\n');
const tokenOf = (name: string): string => (name === 'admin' ? ADMIN : `${name}-token-0123456789`);
const ACME = 'tenant_id = "acme"';

const BEFORE = [
  row('admin', 'admin'),
  row('node', 'node'),
  row('old', 'client', ACME),
  row('kept', 'client', ACME),
];

/** Starts with BEFORE; `write` replaces the file. */
async function start() {
  let file = BEFORE.join('\n');
  const app = await startApp({}, file, () => file);
  const write = (...rows: string[]) => {
    file = rows.join('\n');
  };
  const reload = () => app.post('/api/v1/reload', {}, ADMIN);
  return { app, write, reload };
}

async function dial(app: RunningApp, path: string, token: string) {
  const ws = new WebSocket(`${app.url.replace('http', 'ws')}${path}`, {
    headers: { authorization: `Bearer ${token}` },
  });
  onTestFinished(() => ws.terminate());
  const closed: { code?: number; reason?: string } = {};
  ws.on('close', (code, reason) => Object.assign(closed, { code, reason: `${reason}` }));
  await new Promise((resolve, reject) => ws.on('open', resolve).on('error', reject));
  return closed;
}

describe('reload of tokens', () => {
  it('a revoked token loses its sockets and HTTP nodes, others keep theirs', async () => {
    const { app, write, reload } = await start();
    const session = await dial(app, '/ws/session', tokenOf('old'));
    const node = await dial(app, '/ws/node', tokenOf('node'));
    const kept = await dial(app, '/ws/session', tokenOf('kept'));
    const register = { node_id: 'node-http', health: 'ready', semantic_langs: ['en', 'zh'] };
    expect((await app.post('/v1/node/register', register, tokenOf('node'))).status).toBe(200);
    write(row('admin', 'admin'), row('kept', 'client', ACME), row('new', 'client', ACME));
    expect(await reload()).toMatchObject({
      status: 200,
      body: { credentials_changed: true, needs_restart: [] },
    });
    await eventually(() => session.code !== undefined && node.code !== undefined);
    expect([session, node]).toEqual([
      { code: 1008, reason: 'revoked' },
      { code: 1008, reason: 'revoked' },
    ]);
    expect(kept).toEqual({});
    for (const name of ['old', 'node']) expect((await app.get('/v1/whoami', tokenOf(name))).status).toBe(401);
    for (const name of ['kept', 'new']) expect((await app.get('/v1/whoami', tokenOf(name))).status).toBe(200);
    await eventually(async () => {
      const { body } = await app.get<{ nodes: unknown[] }>('/api/v1/nodes', ADMIN);
      return body.nodes.length === 0;
    });
  });

  it('a token with other rights than before loses its sockets', async () => {
    const { app, write, reload } = await start();
    const session = await dial(app, '/ws/session', tokenOf('old'));
    write(...BEFORE.slice(0, 2), row('old', 'client', 'tenant_id = "globex"'), row('kept', 'client', ACME));
    await reload();
    await eventually(() => session.code === 1008);
  });

  it('SIGHUP does the same', async () => {
    const { app, write } = await start();
    const session = await dial(app, '/ws/session', tokenOf('old'));
    write(row('admin', 'admin'));
    expect(await app.app.reload()).toMatchObject({ kind: 'reloaded', hasChangedCredentials: true });
    await eventually(() => session.code === 1008);
  });

  it('a broken file changes nothing and says why', async () => {
    const { app, write, reload } = await start();
    const session = await dial(app, '/ws/session', tokenOf('old'));
    write(row('admin', 'admin'), '[[server.tokens]]\ntoken = "short"\nrole = "node"\n');
    const refused = await reload();
    expect(refused.body).toMatchObject({ error: 'INVALID_CONFIG' });
    expect(refused.body.detail).toContain('server.tokens[1].token is 5 characters long');
    expect(session).toEqual({});
    expect((await app.get('/v1/whoami', tokenOf('old'))).status).toBe(200);
  });

  it('only an admin may reload tokens; operators reload only pools', async () => {
    const operator = row('ops', 'operator');
    let file = [...BEFORE, operator].join('\n');
    const app = await startApp({}, file, () => file);
    file = [row('admin', 'admin'), operator].join('\n');
    expect((await app.post('/api/v1/reload', {}, tokenOf('ops'))).status).toBe(403);
    const pools = await app.post('/api/v1/phase3/reload', {}, tokenOf('ops'));
    expect(pools).toMatchObject({ status: 200, body: { needs_restart: ['server.tokens'] } });
    expect((await app.get('/v1/whoami', tokenOf('old'))).status).toBe(200);
  });

  it('a reload without tokens does not open a server that had some', async () => {
    const { app, write, reload } = await start();
    write('');
    await reload();
    expect((await app.get('/v1/whoami')).status).toBe(401);
    expect((await app.get('/v1/whoami', ADMIN)).status).toBe(401);
  });

  it('a server that was open requires tokens once they are configured', async () => {
    let file = '';
    const app = await startApp({}, file, () => file);
    expect((await app.get('/v1/whoami')).body).toMatchObject({ role: 'admin' });
    file = row('admin', 'admin');
    expect((await app.post('/api/v1/reload')).status).toBe(200);
    expect((await app.get('/v1/whoami')).status).toBe(401);
    expect((await app.get('/v1/whoami', ADMIN)).status).toBe(200);
  });
});
