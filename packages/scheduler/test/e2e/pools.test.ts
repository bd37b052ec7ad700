/** Capability pools over real HTTP and sockets: tenants stay in their pools, and pools change while jobs run. */
import { describe, expect, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { joinPooledNode, poolsToml } from './support/pooled-nodes.ts';
import { startApp } from './support/start-app.ts';

const POOLS = [
  { id: 1, service: 'gold' },
  { id: 2, service: 'silver' },
];
const STRICT = { strict_pool_eligibility: true };

describe('capability pools', () => {
  it("a tenant's jobs stay in its pool, and a full pool is reported", async () => {
    const app = await startApp({}, poolsToml(POOLS, { acme: 1, globex: 2 }, STRICT));
    const gold = await joinPooledNode(app.nodeUrl, 'gold', { isHeld: true });
    const silver = await joinPooledNode(app.nodeUrl, 'silver', { slots: 4 });
    await app.readyNodes(2);
    for (let n = 0; n < 3; n++) {
      expect(await app.dispatch({ tenant_id: 'globex' })).toMatchObject({ node_id: 'node-silver' });
    }
    expect(await app.dispatch({ tenant_id: 'acme' })).toMatchObject({ node_id: 'node-gold' });
    const refused = await app.tryDispatch({ tenant_id: 'acme' });
    expect(refused).toMatchObject({ status: 503, body: { error: 'ALL_CANDIDATES_FULL_OR_FAILED' } });
    expect(refused.body.detail).toContain(
      'in pool 1 (gold), to which tenant acme is bound and may not leave',
    );
    gold.finish();
    expect(silver.begun).toHaveLength(3);
    const metrics = String((await app.get('/metrics')).body);
    expect(metrics).toMatch(
      /scheduler_phase3_pool_selected_total\{pool="2",outcome="hit",fallback="false"\} 3/,
    );
    expect(metrics).toMatch(
      /scheduler_phase3_pool_attempt_total\{pool="1",result="fail",reason="capacity_exceeded"\} 1/,
    );
    expect(metrics).toMatch(/scheduler_phase3_pools 2/);
  });

  it('metrics show the load, the wanted nodes and the refusals of each pool', async () => {
    const app = await startApp({}, poolsToml(POOLS, { acme: 1, globex: 2 }, STRICT));
    const gold = await joinPooledNode(app.nodeUrl, 'gold', { isHeld: true });
    await joinPooledNode(app.nodeUrl, 'silver', { slots: 4 });
    await app.readyNodes(2);
    await app.dispatch({ tenant_id: 'acme' });
    await app.tryDispatch({ tenant_id: 'acme' });
    // The first print asks for the figures, a later one shows them.
    let metrics = '';
    await eventually(async () => {
      metrics = String((await app.get('/metrics')).body);
      return metrics.includes('scheduler_pool_load{pool="all"}');
    });
    expect(metrics).toMatch(/scheduler_pool_load\{pool="1"\} 1\n/);
    expect(metrics).toMatch(/scheduler_pool_load\{pool="2"\} 0\n/);
    expect(metrics).toMatch(/scheduler_pool_load\{pool="all"\} 0\.2\n/);
    expect(metrics).toMatch(/scheduler_pool_wanted_nodes\{pool="1"\} 2\n/);
    expect(metrics).toMatch(/scheduler_pool_oldest_wait_seconds\{pool="1"\} 0\n/);
    expect(metrics).toMatch(/scheduler_pool_refused_total\{pool="1"\} 1\n/);
    expect(metrics).not.toMatch(/scheduler_pool_refused_total\{pool="2"\}/);
    gold.finish();
  });

  it('a job may use another pool where pools are not strict', async () => {
    const app = await startApp({}, poolsToml(POOLS, { acme: 1 }));
    const gold = await joinPooledNode(app.nodeUrl, 'gold', { isHeld: true });
    await joinPooledNode(app.nodeUrl, 'silver');
    await app.readyNodes(2);
    expect(await app.dispatch({ tenant_id: 'acme' })).toMatchObject({ node_id: 'node-gold' });
    expect(await app.dispatch({ tenant_id: 'acme' })).toMatchObject({ node_id: 'node-silver' });
    gold.finish();
  });

  it("a dedicated pool takes no other tenant's jobs", async () => {
    const dedicated = [POOLS[0], { id: 2, service: 'silver', isDedicated: true }] as typeof POOLS;
    const app = await startApp({}, poolsToml(dedicated, { globex: 2 }));
    await joinPooledNode(app.nodeUrl, 'silver');
    await app.readyNodes(1);
    expect(await app.tryDispatch({ tenant_id: 'acme' })).toMatchObject({
      body: {
        error: 'ALL_CANDIDATES_FULL_OR_FAILED',
        reasons: [{ reason: 'not_in_pool', count: 1, sample_node_ids: ['node-silver'] }],
      },
    });
    expect(await app.dispatch({ tenant_id: 'globex' })).toMatchObject({ node_id: 'node-silver' });
  });

  it('a reload moves waiting jobs to their new pool, running ones stay', async () => {
    let file = poolsToml(POOLS, { acme: 1 }, STRICT);
    const app = await startApp({}, file, () => file);
    const gold = await joinPooledNode(app.nodeUrl, 'gold', { isHeld: true });
    await joinPooledNode(app.nodeUrl, 'silver');
    await app.readyNodes(2);
    const running = await app.dispatch({ tenant_id: 'acme' });
    await gold.job();
    const waiting = app.dispatch({ tenant_id: 'acme', wait_ms: 20_000 });
    await eventually(async () =>
      String((await app.get('/metrics')).body).includes('scheduler_jobs_waiting 1'),
    );
    file = poolsToml(POOLS, { acme: 2 }, STRICT);
    expect(await app.post('/api/v1/phase3/reload')).toMatchObject({
      status: 200,
      body: { ok: true, changed: true, pool_count: 2, needs_restart: [] },
    });
    expect(await waiting).toMatchObject({ node_id: 'node-silver' });
    gold.finish();
    expect(await app.settled(running.job_id)).toMatchObject({
      node_id: 'node-gold',
      result: { success: true },
    });
    expect(await app.dispatch({ tenant_id: 'acme' })).toMatchObject({ node_id: 'node-silver' });
    expect(await app.post('/api/v1/phase3/reload')).toMatchObject({ body: { changed: false } });
  });

  it('an invalid configuration changes no pool, and the field is named', async () => {
    let file = poolsToml(POOLS, { acme: 1 }, STRICT);
    const app = await startApp({}, file, () => file);
    await joinPooledNode(app.nodeUrl, 'gold');
    await app.readyNodes(1);
    file = poolsToml(POOLS, { acme: 7 }, STRICT);
    const refused = await app.post('/api/v1/phase3/reload');
    expect(refused).toMatchObject({ status: 409, body: { error: 'INVALID_CONFIG' } });
    expect(refused.body.detail).toContain('scheduler.pools.tenant_overrides[0].pool_id');
    expect(await app.dispatch({ tenant_id: 'acme' })).toMatchObject({ node_id: 'node-gold' });
  });

  it('pools can be disabled and enabled, and restart-only settings are named', async () => {
    let file = poolsToml(POOLS, {}, STRICT);
    const app = await startApp({}, file, () => file);
    file = '[scheduler]\nmax_retry = 5\n';
    const off = { changed: true, pool_count: 0, needs_restart: ['scheduler.max_retry'] };
    expect((await app.post('/api/v1/phase3/reload')).body).toMatchObject(off);
    expect((await app.post('/api/v1/phase3/reload')).body).toMatchObject({ ...off, changed: false });
    file = poolsToml(POOLS.slice(1), {}, STRICT);
    expect((await app.post('/api/v1/phase3/reload')).body).toMatchObject({
      changed: true,
      pool_count: 1,
      needs_restart: [],
    });
  });

  it('pools cannot be reloaded without a configuration file', async () => {
    const app = await startApp();
    expect(await app.post('/api/v1/phase3/reload')).toMatchObject({ body: { error: 'UNSUPPORTED_FEATURE' } });
  });
});
