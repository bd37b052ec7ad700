/**
 * The story of the services around dispatch, end to end: two tenants, four pools, two instances on one Redis, a hub that goes down and a
 * model that is withdrawn. Each tenant stays in its pool, nobody waits for the hub, the missing model costs nobody a result, and whoever
 * asks why is told.
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

/** Dispatches, insists on a result, and answers with the node that gave it. */
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

  // Each tenant in its pool, from both instances; whoever has none stays out of the dedicated one.
  for (const at of [a, b]) {
    for (let n = 0; n < 4; n++) expect(await served(at, 'acme')).toMatch(/^node-gold-/);
    expect(await served(at, 'globex')).toBe('node-silver');
    for (let n = 0; n < 4; n++) expect(await served(at, `tenant-${n}`)).toMatch(/^node-(silver|bronze)$/);
  }
  const why = await explain(b, { tenant_id: 'globex', node_id: 'node-gold-1' });
  expect(why).toMatchObject({ selected_pool: 2, confinement: 'tenant_pool' });
  expect(JSON.stringify(why.node)).toContain('not_in_pool');

  // Both know the catalogue and count the same fleet.
  for (const at of [a, b])
    await eventually(async () => {
      const { body } = await at.get<StatsReply>('/api/v1/stats');
      return body.nodes?.connected_nodes === 4 && body.nodes.total_services === 1;
    });

  // The hub goes down: work goes on, and what was known stays known.
  hub.state.isDown = true;
  await eventually(async () => (await figure(a, 'scheduler_hub_up')) === 0);
  expect(await served(a, 'acme')).toMatch(/^node-gold-/);
  expect(await figure(a, 'scheduler_hub_down_dispatch_total{outcome="admitted"}')).toBeGreaterThan(0);
  expect((await a.get<StatsReply>('/api/v1/stats')).body.nodes?.total_services).toBe(1);

  // A model is withdrawn from one node of acme: its jobs are done by the other, whichever instance was asked.
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
  // And from the other: nobody of the pool is left, which is said, and acme does not leak into other pools.
  (gold[1] as (typeof gold)[0]).lacks = true;
  await eventually(async () => {
    const refused = await b.tryDispatch({ tenant_id: 'acme' });
    if (refused.status === 200) return false;
    expect(refused.body.error).toBe('ALL_CANDIDATES_FULL_OR_FAILED');
    return String(refused.body.detail).includes('simulated-nmt');
  });
  expect(await served(b, 'globex')).toBe('node-silver');

  // The model is back, and a probe finds out by itself.
  for (const node of gold) node.lacks = false;
  await eventually(async () => (await a.tryDispatch({ tenant_id: 'acme' })).status === 200);
  hub.state.isDown = false;
  await eventually(async () => (await figure(a, 'scheduler_hub_up')) === 1);

  // What the two pages say of it is the same.
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
