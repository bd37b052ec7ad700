/** SIGHUP reloads the pools of the configuration file in a real process, while a job runs. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { ensureBuilt } from './support/ensure-built.ts';
import { lingua } from './support/lingua.ts';
import { joinPooledNode, poolsToml } from './support/pooled-nodes.ts';
import { createClient } from './support/start-app.ts';

beforeAll(ensureBuilt, 150_000);

const POOLS = [
  { id: 1, service: 'gold' },
  { id: 2, service: 'silver' },
];
const STRICT = { strict_pool_eligibility: true };

describe('SIGHUP', () => {
  it('SIGHUP moves a tenant without losing jobs; a broken file changes nothing', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'lingua-pools-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    const path = join(folder, 'config.toml');
    await writeFile(path, poolsToml(POOLS, { acme: 1 }, STRICT));
    const server = lingua(['serve', '--port', '0', '--config', path]);
    const client = createClient(await server.url());
    const nodeUrl = `${client.url.replace('http', 'ws')}/ws/node`;
    const gold = await joinPooledNode(nodeUrl, 'gold', { isHeld: true });
    await joinPooledNode(nodeUrl, 'silver');
    await client.readyNodes(2);
    const running = await client.dispatch({ tenant_id: 'acme' });
    expect(running.node_id).toBe('node-gold');
    await gold.job();

    await writeFile(path, '[scheduler.pools]\nenabled = "perhaps"\n');
    server.signal('SIGHUP');
    await eventually(() => server.messages().includes('the configuration is invalid: nothing was changed'));
    expect((await client.tryDispatch({ tenant_id: 'acme' })).status).toBe(503);

    await writeFile(path, poolsToml(POOLS, { acme: 2 }, STRICT));
    server.signal('SIGHUP');
    await eventually(() => server.messages().includes('reloaded the configuration'));
    expect((await client.dispatch({ tenant_id: 'acme' })).node_id).toBe('node-silver');
    gold.finish();
    expect(await client.settled(running.job_id)).toMatchObject({ result: { success: true } });
  });
});
