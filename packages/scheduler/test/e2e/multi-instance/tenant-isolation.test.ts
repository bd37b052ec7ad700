/**
 * Tenant isolation end to end: two tenants, four pools, two instances on one Redis, a hub that goes down and a model that is withdrawn.
 * Each tenant stays in its pool, no dispatch waits for the hub, the missing model costs no result, and explain gives the reasons.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ExplainReply, MetricsReply, StatsReply } from '@lingua/protocol';
import { JobError } from '@lingua/sdk/node';
import { expect, it, onTestFinished } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { startRedis } from '../../support/redis-servers.ts';
import { poolCapabilities, poolsToml } from '../support/pooled-nodes.ts';
import { joinSdkNode, OUTPUT } from '../support/sdk-node.ts';
import { AUDIO } from '../support/start-app.ts';
import { type Instance, startInstance } from './start-instances.ts';

const POOLS = [
  { id: 1, service: 'gold', isDedicated: true },
  { id: 2, service: 'silver' },
  { id: 3, service: 'bronze' },
  { id: 4, service: 'lead' },
];
const BOUND = { acme: 1, globex: 2 };
const UTTERANCE = { session_id: 'room-1', src_lang: 'en', tgt_lang: 'zh', audio: AUDIO };
const LACK = { service_id: 'simulated-nmt', service_version: '1.0.0', reason: 'not found' };

async function startHub() {
  const state = { isDown: false };
  const services = [
    { service_id: 'simulated-nmt', name: 'Simulated', latest_version: '1.0.0', variants: [] },
  ];
  const server = createServer((_request, response) => {
    response.writeHead(state.isDown ? 500 : 200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(state.isDown ? {} : services));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return { state, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

async function joinNode(at: Instance, nodeId: string, service: string) {
  const state = { lacks: false, jobs: 0 };
  await joinSdkNode({
    url: at.nodeUrl,
    nodeId,
    capabilities: poolCapabilities(service),
    onJob: async () => {
      state.jobs += 1;
      if (state.lacks) throw new JobError('MODEL_NOT_AVAILABLE', 'gone', LACK);
      return OUTPUT;
    },
  });
  return state;
}

/** Dispatches a job that must succeed, and returns its node. */
async function served(at: Instance, tenant: string): Promise<string | undefined> {
  const job = await at.dispatch({ tenant_id: tenant, wait_ms: 5_000 });
  const done = await at.settled(job.job_id);
  expect(done).toMatchObject({ result: { text_translated: OUTPUT.text_translated } });
  return done.node_id;
}

const explain = async (at: Instance, fields: object) =>
  (await at.post<ExplainReply>('/v1/explain', { ...UTTERANCE, ...fields })).body;
const metrics = async (at: Instance) => (await at.get<MetricsReply>('/api/v1/metrics')).body;

async function figure(at: Instance, series: string): Promise<number> {
  const { body } = await at.get<string>('/metrics');
  const line = body.split('\n').find((one) => one.startsWith(`${series} `));
  return Number(line?.split(' ').at(-1) ?? 0);
}

it('two tenants, four pools, a hub outage and a withdrawn model', async () => {
  const redis = await startRedis();
  onTestFinished(() => redis.stop());
  const hub = await startHub();
  const settings = {
    'model_hub.base_url': hub.url,
    'scheduler.service_catalog.refresh_interval_seconds': 1,
    'scheduler.service_catalog.backoff_base_seconds': 1,
    'scheduler.service_catalog.backoff_max_seconds': 1,
    'scheduler.model_not_available.unavailable_ttl_seconds': 2,
    'scheduler.node_health.heartbeat_interval_seconds': 60,
    'scheduler.node_health.heartbeat_timeout_seconds': 180,
  };
  const toml = poolsToml(POOLS, BOUND, { strict_pool_eligibility: true });
  const a = await startInstance(redis, 'story', settings, toml);
  const b = await startInstance(redis, 'story', settings, toml);
  const gold = [await joinNode(a, 'node-gold-1', 'gold'), await joinNode(b, 'node-gold-2', 'gold')];
  await joinNode(a, 'node-silver', 'silver');
  await joinNode(b, 'node-bronze', 'bronze');
  for (const each of [a, b]) await each.readyNodes(4);

  // Each tenant stays in its pool on both instances; tenants without a pool stay out of dedicated ones.
  for (const at of [a, b]) {
    for (let n = 0; n < 4; n++) expect(await served(at, 'acme')).toMatch(/^node-gold-/);
    expect(await served(at, 'globex')).toBe('node-silver');
    for (let n = 0; n < 4; n++) expect(await served(at, `tenant-${n}`)).toMatch(/^node-(silver|bronze)$/);
  }
  const why = await explain(b, { tenant_id: 'globex', node_id: 'node-gold-1' });
  expect(why).toMatchObject({ selected_pool: 2, confinement: 'tenant_pool' });
  expect(JSON.stringify(why.node)).toContain('not_in_pool');

  // Both instances know the catalogue and count the same fleet.
  for (const at of [a, b])
    await eventually(async () => {
      const { body } = await at.get<StatsReply>('/api/v1/stats');
      return body.nodes?.connected_nodes === 4 && body.nodes.total_services === 1;
    });

  // The hub goes down: dispatches continue, and the catalogue is kept.
  hub.state.isDown = true;
  await eventually(async () => (await figure(a, 'scheduler_hub_up')) === 0);
  expect(await served(a, 'acme')).toMatch(/^node-gold-/);
  expect(await figure(a, 'scheduler_hub_down_dispatch_total{outcome="admitted"}')).toBeGreaterThan(0);
  expect((await a.get<StatsReply>('/api/v1/stats')).body.nodes?.total_services).toBe(1);

  // One node of acme loses a model: the other node does its jobs, for both instances.
  (gold[0] as (typeof gold)[0]).lacks = true;
  await eventually(async () => {
    expect(await served(b, 'acme')).toBe('node-gold-2');
    return (await figure(a, 'scheduler_model_na_marks')) === 1;
  });
  await eventually(async () =>
    JSON.stringify((await explain(b, { tenant_id: 'acme', node_id: 'node-gold-1' })).node).includes(
      'model_not_available',
    ),
  );
  // The other node loses it, too: the refusal says so, and jobs of acme do not leave its pool.
  (gold[1] as (typeof gold)[0]).lacks = true;
  await eventually(async () => {
    const refused = await b.tryDispatch({ tenant_id: 'acme' });
    if (refused.status === 200) return false;
    expect(refused.body.error).toBe('ALL_CANDIDATES_FULL_OR_FAILED');
    return String(refused.body.detail).includes('simulated-nmt');
  });
  expect(await served(b, 'globex')).toBe('node-silver');

  // The model is back, and a probe finds it.
  for (const node of gold) node.lacks = false;
  await eventually(async () => (await a.tryDispatch({ tenant_id: 'acme' })).status === 200);
  hub.state.isDown = false;
  await eventually(async () => (await figure(a, 'scheduler_hub_up')) === 1);

  // Both instances show the same.
  for (const at of [a, b]) {
    const { model_not_available: missing } = await metrics(at);
    expect(missing.received_total).toBe(await figure(at, 'scheduler_model_na_received_total'));
    expect(missing.marked_total).toBe(await figure(at, 'scheduler_model_na_marked_total'));
  }
  const received =
    (await metrics(a)).model_not_available.received_total +
    (await metrics(b)).model_not_available.received_total;
  expect(received).toBeGreaterThan(1);
});
