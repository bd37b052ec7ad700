/** /api/v1/metrics and /metrics agree, also while requests run. */
import { MetricsReply, validator } from '@lingua/protocol';
import { describe, expect, it } from 'vitest';
import type { MetricsView } from '../../src/transport/http/views/metrics-view.ts';
import { eventually } from '../support/eventually.ts';
import { type MetricsPage, metricsPage } from './support/metrics-page.ts';
import { joinSdkNode, OUTPUT } from './support/sdk-node.ts';
import { type RunningApp, startApp } from './support/start-app.ts';
import { TOKEN_TOML, TOKENS } from './support/tokens.ts';

const json = async (app: RunningApp) => (await app.get<MetricsView>('/api/v1/metrics')).body;

/** Every count of the JSON next to its series. */
const pairs = (reply: MetricsView, page: MetricsPage): Record<string, [number, number]> => ({
  admitted: [reply.dispatch.admitted_total, page.total('scheduler_jobs_admitted_total')],
  refused: [reply.dispatch.refused_total, page.total('scheduler_jobs_refused_total')],
  latency: [reply.dispatch.latency.count, page.total('scheduler_dispatch_latency_seconds_count')],
  ...Object.fromEntries(
    Object.entries(reply.dispatch.stages).map(([stage, { count }]) => [
      `stage ${stage}`,
      [count, page.figure('scheduler_stage_seconds_count', { stage }) ?? Number.NaN],
    ]),
  ),
  ...Object.fromEntries(
    Object.entries(reply.dispatch.refused_by_code).map(([code, count]) => [
      `refused ${code}`,
      [count, page.figure('scheduler_jobs_refused_total', { code }) ?? Number.NaN],
    ]),
  ),
  ...Object.fromEntries(
    reply.dispatch_exclude.by_reason.map(({ reason, total }) => [
      `excluded ${reason}`,
      [total, page.figure('scheduler_dispatch_excluded_total', { reason }) ?? Number.NaN],
    ]),
  ),
  slowPaths: [reply.observability.slow_path_total, page.total('scheduler_slow_path_total')],
  stats: [reply.stats.requests_total, page.total('scheduler_stats_requests_total')],
});

describe('GET /api/v1/metrics', () => {
  it('the JSON agrees with /metrics under load, and exactly afterwards', async () => {
    const app = await startApp({ 'scheduler.queue.max_waiting': 0 });
    await joinSdkNode({ url: app.nodeUrl, maxConcurrentJobs: 3, onJob: async () => OUTPUT });
    await app.readyNodes(1);
    let isOver = false;
    const busy = Array.from({ length: 12 }, async (_, worker) => {
      for (let at = 0; at < 60; at += 1) {
        // No node can take one job in four.
        await app.tryDispatch(worker % 4 === 0 ? { src_lang: 'fr', tgt_lang: 'de' } : {});
        if (at % 10 === 0) await app.get('/api/v1/stats');
      }
    });
    const load = Promise.all(busy).then(() => {
      isOver = true;
    });
    let looks = 0;
    while (!isOver) {
      const before = await json(app);
      const page = await metricsPage(app);
      const after = await json(app);
      const later = pairs(after, page);
      for (const [name, [count, printed]] of Object.entries(pairs(before, page))) {
        expect(count, `${name}: JSON before`).toBeLessThanOrEqual(printed);
        expect(later[name]?.[0], `${name}: JSON after`).toBeGreaterThanOrEqual(printed);
      }
      looks += 1;
    }
    await load;
    expect(looks).toBeGreaterThan(2);
    await eventually(async () => (await metricsPage(app)).figure('scheduler_jobs_inflight') === 0);
    const reply = await json(app);
    const page = await metricsPage(app);
    for (const [name, [count, printed]] of Object.entries(pairs(reply, page)))
      expect(count, name).toBe(printed);
    expect(validator(MetricsReply)(reply)).toMatchObject({ ok: true });
    expect(reply.dispatch.admitted_total + reply.dispatch.refused_total).toBe(12 * 60);
    expect(reply.dispatch.refused_by_code.NO_CAPABLE_NODE).toBe(3 * 60);
    expect(reply.dispatch.stages).toHaveProperty('total');
    const { p50_ms, p95_ms, p99_ms } = reply.dispatch.latency;
    expect(p50_ms).toBeLessThanOrEqual(p95_ms);
    expect(p95_ms).toBeLessThanOrEqual(p99_ms);
    expect(reply.dispatch.requests_per_second).toBeGreaterThan(0);
    const [excluded] = reply.dispatch_exclude.by_reason;
    expect(excluded?.sample_node_ids.length).toBeGreaterThan(0);
    expect(reply.cluster).toBeUndefined();
  });

  it('all groups of legacy dashboards exist before the first request', async () => {
    const app = await startApp();
    const reply = await json(app);
    expect(validator(MetricsReply)(reply)).toMatchObject({ ok: true });
    expect(reply).toMatchObject({
      stats: { requests_total: 0, stale_total: 0 },
      service_catalog: { fail_count: 0 },
      model_not_available: {
        received_total: 0,
        rate_limited_total: 0,
        marked_total: 0,
        by_service_top: [],
        by_reason_top: [],
        rate_limited_by_node_top: [],
        marked_by_node_top: [],
        other_service_total: 0,
        other_reason_total: 0,
        other_rate_limited_node_total: 0,
        other_marked_node_total: 0,
      },
      dispatch_exclude: { by_reason: [] },
      web_task_segmentation: {
        finalized_total: 0,
        finalized_by_send_total: 0,
        finalized_by_pause_total: 0,
        pause_ms: 1_000,
      },
      observability: { lock_wait_warn_ms: 10, path_warn_ms: 50 },
    });
  });

  it('metrics need a token where tokens are configured', async () => {
    const app = await startApp({}, TOKEN_TOML);
    expect((await app.get('/api/v1/metrics')).status).toBe(401);
    expect((await app.get('/api/v1/metrics', TOKENS.operator)).status).toBe(200);
  });
});
