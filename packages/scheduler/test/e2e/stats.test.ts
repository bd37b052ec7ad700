/** GET /api/v1/stats and the service catalogue over HTTP: format, counting rules, and independence of the ModelHub. */
import { StatsReply, validator } from '@lingua/protocol';
import { describe, expect, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { connectLegacyNode } from './support/legacy-node.ts';
import { startModelHub } from './support/model-hub.ts';
import { connectSession, INIT, sessionUrl } from './support/session-client.ts';
import { type RunningApp, startApp } from './support/start-app.ts';
import { TOKEN_TOML, TOKENS } from './support/tokens.ts';

const OFTEN = { 'scheduler.stats.snapshot_interval_ms': 1_000 };
const TEST_MS = 120_000;

const stats = (app: RunningApp) => app.get<StatsReply & { status?: string }>('/api/v1/stats');

async function metric(app: RunningApp, series: string): Promise<number | undefined> {
  const { body } = await app.get<string>('/metrics');
  const line = body.split('\n').find((text) => text.startsWith(`${series} `));
  return line === undefined ? undefined : Number(line.slice(series.length + 1));
}

const HARDWARE = { cpu_cores: 16, memory_gb: 64, gpus: [{ name: 'gpu', memory_gb: 24 }] };

describe('GET /api/v1/stats', () => {
  it(
    'sessions, languages, nodes and power have the documented format',
    async () => {
      const hub = await startModelHub();
      const app = await startApp({ ...OFTEN, 'model_hub.base_url': hub.url });
      const node = await connectLegacyNode({
        url: app.nodeUrl,
        nodeId: 'node-1',
        answer: () => undefined,
        registration: { hardware: HARDWARE },
      }).registered();
      node.send({
        type: 'node_heartbeat',
        node_id: 'node-1',
        timestamp: 0,
        resource_usage: { cpu_percent: 25, gpu_percent: 50, mem_percent: 50, running_jobs: 1 },
        processing_metrics: { serviceEfficiencies: { 'asr-1': 4.5 } },
      });
      const session = connectSession({ url: sessionUrl(app) });
      await session.opened();
      await session.init({
        ...INIT,
        src_lang: 'auto',
        mode: 'two_way_auto',
        lang_a: 'zh',
        lang_b: 'en',
        tgt_lang: 'en',
      });

      const { body, headers } = await eventually(async () => {
        const answer = await stats(app);
        const { web_clients: clients, nodes } = answer.body;
        const isCounted = clients?.active_users === 1 && nodes.type_in_use_counts.asr === 1;
        return isCounted ? answer : undefined;
      });
      expect(validator(StatsReply)(body)).toMatchObject({ ok: true });
      expect(headers.get('content-type')).toContain('application/json');
      expect(body.web_clients.language_usage).toEqual({
        zh: { as_source: 1, as_target: 1, total: 2 },
        en: { as_source: 1, as_target: 1, total: 2 },
      });
      expect(body.nodes).toMatchObject({
        connected_nodes: 1,
        type_node_counts: { asr: 1, nmt: 1, tts: 1, semantic: 1 },
        type_in_use_counts: { asr: 1 },
        total_services: 2,
        compute_power: {
          total_cpu_power: 4,
          total_gpu_power: 6,
          total_memory_power: 16,
          node_power_details: [{ node_id: 'node-1', gpu_power: 6, service_efficiencies: { 'asr-1': 4.5 } }],
        },
      });
      expect(body.nodes.available_services.map(({ service_id }) => service_id)).toEqual(['asr-1', 'nmt-1']);
      expect(body.snapshot).toMatchObject({ stale: false });
      expect(body.snapshot.age_ms).toBeGreaterThanOrEqual(0);
      expect(await metric(app, 'scheduler_stats_requests_total')).toBeGreaterThan(0);
      expect(await metric(app, 'scheduler_stats_request_duration_seconds_count')).toBeGreaterThan(0);
      expect(await metric(app, 'scheduler_dashboard_snapshot_age_seconds')).toBeGreaterThanOrEqual(0);
      expect(await metric(app, 'scheduler_service_catalog_entries')).toBe(2);
      expect(await metric(app, 'scheduler_hub_up')).toBe(1);
    },
    TEST_MS,
  );

  it('statistics are for operators only', async () => {
    const app = await startApp(OFTEN, TOKEN_TOML);
    const statusWith = async (token?: string) => (await app.get('/api/v1/stats', token)).status;
    expect(await statusWith()).toBe(401);
    expect(await statusWith(TOKENS.client)).toBe(403);
    expect([200, 503]).toContain(await statusWith(TOKENS.operator));
  });

  it('reading statistics sends no request to the hub', async () => {
    const hub = await startModelHub();
    const app = await startApp({
      ...OFTEN,
      'model_hub.base_url': hub.url,
      'server.limits.requests_per_second': 100_000,
      'server.limits.requests_per_second_per_tenant': 100_000,
    });
    await eventually(async () => (await stats(app)).body.nodes?.total_services === 2);
    const { asked } = hub;
    await Promise.all(Array.from({ length: 300 }, () => stats(app)));
    expect(hub.asked).toBe(asked);
  });

  it('statistics and dispatch work while the hub does not answer', async () => {
    const hub = await startModelHub();
    hub.mood = 'is silent';
    const app = await startApp({
      ...OFTEN,
      'model_hub.base_url': hub.url,
      'scheduler.service_catalog.request_timeout_ms': 100,
    });
    await connectLegacyNode({ url: app.nodeUrl, nodeId: 'node-1' }).registered();
    await app.readyNodes(1);
    await eventually(async () => (await metric(app, 'scheduler_hub_up')) === 0);
    await app.settled((await app.dispatch()).job_id);
    const refused = await app.tryDispatch({ src_lang: 'xx' });
    expect(refused.status).not.toBe(200);
    expect((await stats(app)).body.nodes).toMatchObject({ available_services: [], total_services: 0 });
    expect(await metric(app, 'scheduler_hub_down_dispatch_total{outcome="admitted"}')).toBe(1);
    expect(await metric(app, 'scheduler_hub_down_dispatch_total{outcome="refused"}')).toBe(1);
    expect(await metric(app, 'scheduler_service_catalog_fail_count')).toBeGreaterThan(0);
  });

  it('the services stay listed while the hub fails, then are refreshed', async () => {
    const hub = await startModelHub();
    const app = await startApp({
      ...OFTEN,
      'model_hub.base_url': hub.url,
      'scheduler.service_catalog.refresh_interval_seconds': 1,
    });
    const services = async () =>
      (await stats(app)).body.nodes?.available_services.map(({ service_id }) => service_id);
    await eventually(async () => (await services())?.length === 2);
    for (const mood of ['fails', 'talks nonsense'] as const) {
      const { asked } = hub;
      hub.mood = mood;
      await eventually(() => hub.asked > asked);
      await eventually(async () => (await metric(app, 'scheduler_hub_up')) === 0);
      expect(await services()).toEqual(['asr-1', 'nmt-1']);
    }
    hub.mood = 'answers';
    hub.services = ['tts-7'];
    await eventually(async () => (await services())?.[0] === 'tts-7');
    expect(await metric(app, 'scheduler_hub_up')).toBe(1);
  });

  it('a missing model refreshes the catalogue soon', async () => {
    const hub = await startModelHub();
    const app = await startApp({ ...OFTEN, 'model_hub.base_url': hub.url });
    await connectLegacyNode({
      url: app.nodeUrl,
      nodeId: 'node-1',
      answer: () => ({
        success: false,
        error: { code: 'MODEL_NOT_AVAILABLE', message: 'gone', details: { service_id: 'nmt-service' } },
      }),
    }).registered();
    await app.readyNodes(1);
    await eventually(() => hub.asked === 1);
    await app.settled((await app.dispatch()).job_id);
    // Otherwise every 30 s.
    await eventually(() => hub.asked === 2);
  });

  it('a missing hub address is logged once', async () => {
    const app = await startApp(OFTEN);
    await eventually(async () => (await stats(app)).status === 200);
    expect((await stats(app)).body.nodes).toMatchObject({ available_services: [], total_services: 0 });
    expect(app.log.filter((line) => line.includes('model_hub.base_url'))).toHaveLength(1);
    expect(await metric(app, 'scheduler_hub_up')).toBeUndefined();
  });
});
