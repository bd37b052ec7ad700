/** Pools and simulated choices over HTTP, in the format of legacy tools. */
import type { PoolsReply, SimulateReply } from '@lingua/protocol';
import { describe, expect, it } from 'vitest';
import { simulatedCapabilities } from '../../src/cli/simulated-node/simulated-capabilities.ts';
import { FOUR_POOLS, startFourPools } from './support/four-pools.ts';
import { joinPooledNode, poolsToml } from './support/pooled-nodes.ts';
import { joinSdkNode, OUTPUT } from './support/sdk-node.ts';
import { type RunningApp, startApp } from './support/start-app.ts';
import { TOKEN_TOML, TOKENS } from './support/tokens.ts';

const NODE = { health: 'ready', semantic_langs: ['en', 'zh'], tts_langs: ['zh'] };

describe('GET /api/v1/phase3/pools', () => {
  it('every pool is listed with its nodes and core services', async () => {
    const { app } = await startFourPools();
    const { body } = await app.get<PoolsReply>('/api/v1/phase3/pools');
    expect(body.pools.map(({ pool_id, total_nodes }) => [pool_id, total_nodes])).toEqual([
      [1, 1],
      [2, 1],
      [3, 1],
      [4, 0],
    ]);
    expect(body.pools[0]).toEqual({
      pool_id: 1,
      pool_name: 'gold',
      pool_required_services: ['gold'],
      total_nodes: 1,
      online_nodes: 1,
      ready_nodes: 1,
      core_services_installed: { asr: 1, nmt: 1, tts: 1 },
      core_services_ready: { asr: 1, nmt: 1, tts: 1 },
      sample_node_ids: ['node-gold'],
    });
    expect(body.config).toMatchObject({ enabled: true, strict_pool_eligibility: true, hash_seed: 0 });
    expect(body.unpooled).toEqual({ total_nodes: 0, sample_node_ids: [] });
  });

  it('nodes outside all pools and configured core services are listed', async () => {
    const app = await startApp(
      { 'scheduler.core_services.asr_service_id': 'silver' },
      poolsToml(FOUR_POOLS.slice(1, 2), {}),
    );
    await joinPooledNode(app.nodeUrl, 'silver');
    await app.readyNodes(1);
    const { body } = await app.get<PoolsReply>('/api/v1/phase3/pools');
    expect(body.unpooled).toEqual({ total_nodes: 1, sample_node_ids: ['node-silver'] });
    expect(body.pools[0]?.core_services_installed).toEqual({ silver: 0, nmt: 0, tts: 0 });
  });

  it('without pools the list is empty; only operators may read it', async () => {
    const app = await startApp({}, TOKEN_TOML);
    await app.post('/v1/node/register', { ...NODE, node_id: 'node-a' }, TOKENS.node);
    const { body } = await app.get<PoolsReply>('/api/v1/phase3/pools', TOKENS.operator);
    expect(body).toMatchObject({
      config: { enabled: false },
      pools: [],
      unpooled: { total_nodes: 1, sample_node_ids: ['node-a'] },
    });
    for (const path of ['pools', 'simulate']) {
      expect((await app.get(`/api/v1/phase3/${path}`, TOKENS.client)).status).toBe(403);
    }
  });
});

describe('GET /api/v1/phase3/simulate', () => {
  const simulate = async (app: RunningApp, query = '') =>
    (await app.get<SimulateReply>(`/api/v1/phase3/simulate${query}`)).body;

  it('`required` may be given never, once or many times', async () => {
    const { app } = await startFourPools();
    expect(await simulate(app, '?tenant_id=acme')).toMatchObject({
      routing_key: 'acme',
      required: [],
      selected_node_id: 'node-gold',
      debug: {
        pool_count: 4,
        preferred_pool: 1,
        selected_pool: 1,
        fallback_used: false,
        attempts: [[1, 'ok', 1]],
      },
      breakdown: { total_nodes: 3, eligible: 1, not_in_pool: 2, offline: 0, capacity_exceeded: 0 },
    });
    const once = await simulate(app, '?tenant_id=acme&required=gold');
    expect(once).toMatchObject({ required: ['gold'], selected_node_id: 'node-gold' });
    const twice = await simulate(app, '?tenant_id=acme&required=gold&required=silver');
    expect(twice).toMatchObject({
      required: ['gold', 'silver'],
      debug: { attempts: [[1, 'service_not_installed', 0]] },
      breakdown: { total_nodes: 3, eligible: 0, service_not_installed: 3 },
    });
    expect(twice).not.toHaveProperty('selected_node_id');
    expect(twice.debug).not.toHaveProperty('selected_pool');
  });

  it('routing_key, tenant, then session determine a stable choice', async () => {
    const app = await startApp({ 'scheduler.pools.enabled': true, 'scheduler.pools.pool_count': 64 });
    const preferred = async (query: string) => (await simulate(app, query)).debug.preferred_pool;
    expect(await preferred('?routing_key=k&tenant_id=t&session_id=s')).toBe(
      await preferred('?routing_key=k'),
    );
    expect(await preferred('?tenant_id=t&session_id=s')).toBe(await preferred('?tenant_id=t'));
    expect(await preferred('?session_id=k')).toBe(await preferred('?routing_key=k'));
    expect((await simulate(app)).routing_key).toBe('default');
    const keys = ['a', 'b', 'c', 'd'].map((key) => preferred(`?routing_key=${key}`));
    expect(new Set(await Promise.all(keys)).size).toBeGreaterThan(1);
  });

  it('simulate works without pools', async () => {
    const app = await startApp();
    await joinPooledNode(app.nodeUrl, 'gold');
    await app.readyNodes(1);
    expect(await simulate(app, '?src_lang=en&tgt_lang=zh')).toMatchObject({
      selected_node_id: 'node-gold',
      debug: { pool_count: 0, fallback_used: false, attempts: [] },
    });
    expect(await simulate(app, '?exclude_node_id=node-gold')).toMatchObject({ breakdown: { excluded: 1 } });
    await joinSdkNode({
      url: app.nodeUrl,
      nodeId: 'node-private',
      onJob: async () => OUTPUT,
      capabilities: { ...simulatedCapabilities(['en', 'zh'], false), accept_public_jobs: false },
    });
    await app.readyNodes(2);
    // Without a token it belongs to the jobs that name no tenant.
    expect((await simulate(app)).breakdown).toMatchObject({ eligible: 2 });
    expect((await simulate(app, '?tenant_id=acme')).breakdown).toMatchObject({
      eligible: 1,
      not_in_public_pool: 1,
    });
    expect((await simulate(app, '?tenant_id=acme&accept_public=false')).breakdown).toMatchObject({
      eligible: 2,
    });
    expect(await simulate(app, '?src_lang=fr')).toMatchObject({ breakdown: { asr_lang_unsupported: 2 } });
  });

  it.each([
    ['?tgt_lang=auto', '/tgt_lang'],
    ['?src_lang=no%20language', '/src_lang'],
    ['?accept_public=perhaps', '/accept_public'],
    ['?required=', '/required/0'],
    [`?${'required=a&'.repeat(17)}`, '/required'],
    ['?exclude_node_id=no%20spaces', '/exclude_node_id'],
  ])('the invalid field of %s is named', async (query, field) => {
    const app = await startApp();
    const answer = await app.get(`/api/v1/phase3/simulate${query}`);
    expect(answer).toMatchObject({ status: 400, body: { error: 'INVALID_MESSAGE', field } });
  });
});
