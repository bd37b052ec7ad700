/** The audit log of a real process: its file, its rotation, and a file that cannot be written. */
import { mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, expect, it, onTestFinished } from 'vitest';
import { AUDIT_ACTIONS } from '../../src/domain/audit-actions.ts';
import { eventually } from '../support/eventually.ts';
import { ensureBuilt } from './support/ensure-built.ts';
import { lingua } from './support/lingua.ts';
import { createClient } from './support/start-app.ts';
import { TOKEN_TOML, TOKENS } from './support/tokens.ts';

beforeAll(ensureBuilt, 150_000);

async function start(file: string) {
  const folder = await mkdtemp(join(tmpdir(), 'lingua-audit-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const path = join(folder, 'config.toml');
  await writeFile(path, `[audit]\nfile = "${file}"\n${TOKEN_TOML}`);
  return { folder, server: lingua(['serve', '--port', '0', '--config', path]) };
}

const eventsIn = async (path: string) =>
  (await readFile(path, 'utf8'))
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Record<string, unknown>);

it('SIGHUP continues the audit log in a new file; no token is in either', async () => {
  const { folder, server } = await start('audit.jsonl');
  const client = createClient(await server.url());
  const [path, old] = [join(folder, 'audit.jsonl'), join(folder, 'audit.jsonl.1')];
  await client.post('/api/v1/nodes/node-x/drain', { reason: 'new driver' }, TOKENS.operator);
  await client.get('/api/v1/nodes', 'wrong-token-0123456789');
  await eventually(async () => (await eventsIn(path)).length === 3);
  await rename(path, old);
  server.signal('SIGHUP');
  const [reload] = await eventually(async () => {
    const events = await eventsIn(path);
    return events.length > 0 && events;
  });
  expect(reload).toMatchObject({ audit: 'reload', result: 'done', who: 'signal' });
  expect(await eventsIn(old)).toMatchObject([
    { audit: 'useNewAddress', role: 'operator', from: '127.0.0.1' },
    { audit: 'drainNode', result: 'refused', target: 'node-x', reason: 'new driver', status: 404 },
    { audit: 'refuseCredential', result: 'refused', who: 'unknown' },
  ]);
  const written = (await readFile(path, 'utf8')) + (await readFile(old, 'utf8'));
  for (const token of [...Object.values(TOKENS), 'wrong-token-0123456789'])
    expect(written).not.toContain(token);
  expect(Object.keys(AUDIT_ACTIONS)).toEqual(['refuseCredential', 'useNewAddress', 'reload']);
});

it('the server does not start with an audit file that it cannot write', async () => {
  const { server } = await start('/nowhere/audit.jsonl');
  expect(await server.ended).toEqual({ code: 1, signal: null });
  expect(server.err()).toContain('audit.file "/nowhere/audit.jsonl" cannot be opened for appending');
});
