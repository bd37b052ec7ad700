/** Issue 5, metrics: every metric of the seeds is in the table with its labels, and a working instance prints it. */
import { JobError } from '@lingua/sdk/node';
import { describe, expect, it } from 'vitest';
import { METRICS, type MetricEntry } from '../../../src/domain/metrics.ts';
import { eventually } from '../../support/eventually.ts';
import { type MetricsPage, metricsPage } from '../support/metrics-page.ts';
import { startModelHub } from '../support/model-hub.ts';
import { poolCapabilities, poolsToml } from '../support/pooled-nodes.ts';
import { joinSdkNode, OUTPUT } from '../support/sdk-node.ts';
import { connectSession, INIT, sessionUrl } from '../support/session-client.ts';
import { startInstances } from './start-instances.ts';

/** Name → labels, as in the seeds and the legacy scheduler. */
const OF_THE_SEEDS: Readonly<Record<string, readonly string[]>> = {
  scheduler_stats_requests_total: [],
  scheduler_stats_stale_total: [],
  scheduler_stats_request_duration_seconds: [],
  scheduler_dashboard_snapshot_age_seconds: [],
  scheduler_service_catalog_fail_count: [],
  scheduler_service_catalog_last_success_age_seconds: [],
  scheduler_web_task_pause_ms: [],
  scheduler_web_task_finalized_total: ['reason'],
  scheduler_model_na_received_total: [],
  scheduler_model_na_rate_limited_total: [],
  scheduler_model_na_marked_total: [],
  scheduler_model_na_by_service_total: ['service_id'],
  scheduler_model_na_by_reason_total: ['reason'],
  scheduler_model_na_rate_limited_by_node_total: ['node_id'],
  scheduler_model_na_marked_by_node_total: ['node_id'],
  scheduler_slow_lock_wait_total: ['lock'],
  scheduler_slow_path_total: ['path'],
  scheduler_no_available_node_total: ['selector', 'reason'],
  scheduler_phase3_pool_selected_total: ['pool', 'outcome', 'fallback'],
  scheduler_phase3_pool_attempt_total: ['pool', 'result', 'reason'],
  scheduler_phase2_redis_op_total: ['op', 'result'],
  scheduler_phase2_inbox_pending: [],
  scheduler_phase2_dlq_moved_total: [],
  scheduler_phase2_reclaimed_total: [],
  scheduler_reserve_attempt_total: ['result'],
  scheduler_pool_query_total: ['result'],
  scheduler_dispatch_latency_seconds: [],
  scheduler_ack_timeout_total: [],
  scheduler_node_overload_reject_total: ['reason'],
};

/** Further metrics of the issue. */
const OF_THE_ISSUE: Readonly<Record<string, readonly string[]>> = {
  scheduler_stage_seconds: ['stage'],
  scheduler_jobs_admitted_total: [],
  scheduler_jobs_refused_total: ['code'],
  scheduler_oversell_detected_total: [],
  scheduler_late_report_seconds: ['kind'],
  scheduler_fenced_total: ['kind'],
  scheduler_reserve_first_try_total: ['result'],
  scheduler_reserve_first_try_ratio: [],
  scheduler_event_loop_delay_seconds: [],
  scheduler_jobs_waiting: [],
  scheduler_audio_store_bytes: [],
  scheduler_stats_stale_ratio: [],
  scheduler_main_path_qps: [],
  scheduler_hub_down_dispatch_success_ratio: [],
  scheduler_hub_down_dispatch_total: ['outcome'],
  scheduler_dependency_down_total: [],
};

/** The test causes none of these: they have no series, or no label to print. */
const NOT_IN_THE_STORY = new Set([
  'scheduler_node_overload_reject_total',
  'scheduler_late_report_seconds',
  'scheduler_fenced_total',
]);

const seriesOf = (page: MetricsPage, name: string): readonly string[] =>
  page.text
    .split('\n')
    .filter((line) => line.startsWith(name) && /^(_count)?[ {]/.test(line.slice(name.length)));

const LACK = { service_id: 'simulated-nmt', service_version: '1.0.0', reason: 'file not found' };
const TEST_MS = 120_000;

describe('the metrics of the seeds', () => {
  it('are in the table with their labels', () => {
    const table: Readonly<Record<string, MetricEntry>> = METRICS;
    for (const [name, labels] of Object.entries({ ...OF_THE_SEEDS, ...OF_THE_ISSUE }))
      expect(table[name]?.labels ?? (table[name] && []), name).toEqual(labels);
  });

  it(
    'are printed by an instance that has worked',
    async () => {
      const hub = await startModelHub();
      const { instances } = await startInstances(
        1,
        {
          'model_hub.base_url': hub.url,
          'scheduler.service_catalog.refresh_interval_seconds': 1,
          'scheduler.observability.lock_wait_warn_ms': 1,
          'scheduler.observability.path_warn_ms': 1,
          'scheduler.model_not_available.node_ratelimit_max': 1,
          'scheduler.cluster.dlq_scan_interval_ms': 1_000,
          'scheduler.max_retry': 0,
        },
        poolsToml([{ id: 1, service: 'gold' }], {}),
      );
      const [app] = instances;
      if (app === undefined) throw new Error('no instance');
      let lacks = false;
      await joinSdkNode({
        url: app.nodeUrl,
        nodeId: 'node-gold',
        capabilities: poolCapabilities('gold'),
        onJob: async () => {
          if (lacks) throw new JobError('MODEL_NOT_AVAILABLE', 'gone', LACK);
          return OUTPUT;
        },
      });
      await app.readyNodes(1);

      const client = connectSession({ url: sessionUrl(app) });
      await client.opened();
      await client.init(INIT);
      const chunk = { type: 'audio_chunk', session_id: client.sessionId(), seq: 1, payload: 'AAAAAAAAAAA=' };
      client.send({ ...chunk, is_final: true });
      await client.outcome();
      lacks = true;
      // One job that no node can do, and two whose model is missing, the second of them over the limit.
      await app.tryDispatch({ src_lang: 'fr', tgt_lang: 'de' });
      await Promise.all([app.tryDispatch(), app.tryDispatch()]);
      await app.get('/api/v1/stats');
      hub.mood = 'fails';
      await eventually(async () => (await metricsPage(app)).figure('scheduler_hub_up') === 0);
      await app.tryDispatch();

      const page = await eventually(async () => {
        const now = await metricsPage(app);
        const missing = Object.keys({ ...OF_THE_SEEDS, ...OF_THE_ISSUE }).filter(
          (name) => !NOT_IN_THE_STORY.has(name) && seriesOf(now, name).length === 0,
        );
        expect(missing).toEqual([]);
        return now;
      });
      for (const name of NOT_IN_THE_STORY) expect(page.text).toContain(`# TYPE ${name} `);
      expect(page.figure('scheduler_web_task_finalized_total', { reason: 'send' })).toBe(1);
      expect(page.figure('scheduler_web_task_pause_ms')).toBe(1_000);
      expect(
        page.figure('scheduler_phase2_redis_op_total', { op: 'reserve-slot', result: 'ok' }),
      ).toBeGreaterThan(0);
      expect(
        page.figure('scheduler_phase2_redis_op_total', { op: 'xreadgroup', result: 'ok' }),
      ).toBeGreaterThan(0);
      expect(page.figure('scheduler_model_na_by_reason_total', { reason: 'not_found' })).toBeGreaterThan(0);
      for (const stage of ['select', 'reserve', 'send', 'ack', 'run', 'deliver', 'total'])
        expect(page.figure('scheduler_stage_seconds_count', { stage }), stage).toBeGreaterThan(0);
      expect(app.log.some((line) => line.includes('slow wait') || line.includes('slow path'))).toBe(true);
    },
    TEST_MS,
  );
});
