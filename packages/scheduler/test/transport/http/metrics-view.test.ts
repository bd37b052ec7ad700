/** Metrics as JSON: top K, overflow, and values that are not numbers. */
import { describe, expect, it } from 'vitest';
import { createPrometheusMeter } from '../../../src/adapters/prometheus/meter.ts';
import { type MeasuredFacts, metricsView } from '../../../src/transport/http/views/metrics-view.ts';

const FACTS: MeasuredFacts = {
  statsUpdatedAt: undefined,
  catalogue: { fetchedAt: undefined, lastSuccessAt: undefined, lastError: undefined },
  excluded: new Map(),
  lockWaitWarnMs: 10,
  pathWarnMs: 50,
  isShared: false,
};

describe('metrics as JSON', () => {
  it('the 20 most frequent entries are listed, the rest is summed', () => {
    const meter = createPrometheusMeter();
    for (let at = 0; at < 300; at += 1)
      meter.count(
        'scheduler_model_na_by_service_total',
        { service_id: `s-${at}` },
        at < 200 ? at + 1 : 1_000,
      );
    const { model_not_available: view } = metricsView(meter.read(), FACTS);
    expect(view.by_service_top).toHaveLength(20);
    expect(view.by_service_top[0]).toEqual({ key: 's-199', count: 200 });
    expect(view.by_service_top.at(-1)).toEqual({ key: 's-180', count: 181 });
    expect(view.other_service_total).toBe(100 * 1_000);
    expect(view.other_reason_total).toBe(0);
  });

  it('equal counts are ordered by name', () => {
    const meter = createPrometheusMeter();
    for (const node_id of ['b', 'c', 'a'])
      meter.count('scheduler_model_na_marked_by_node_total', { node_id }, 2);
    const { marked_by_node_top: top } = metricsView(meter.read(), FACTS).model_not_available;
    expect(top.map(({ key }) => key)).toEqual(['a', 'b', 'c']);
  });

  it('stats.latency has P95 and P99 of the statistics requests', () => {
    const meter = createPrometheusMeter();
    for (let at = 0; at < 94; at += 1) meter.observe('scheduler_stats_request_duration_seconds', 0.001);
    for (let at = 0; at < 6; at += 1) meter.observe('scheduler_stats_request_duration_seconds', 2);
    const { latency } = metricsView(meter.read(), FACTS).stats;
    expect(latency?.count).toBe(100);
    expect(latency?.p50_ms).toBeLessThan(100);
    expect(latency?.p95_ms).toBeGreaterThan(500);
    expect(latency?.p99_ms).toBeGreaterThanOrEqual(latency?.p95_ms ?? Number.POSITIVE_INFINITY);
  });

  it('last_reaction_at_ms has the time of the last expensive operation per model', () => {
    const meter = createPrometheusMeter();
    meter.gauge('scheduler_model_na_last_reaction_seconds', 1_700_000_000.25, { service_id: 'm2m' });
    meter.gauge('scheduler_model_na_last_reaction_seconds', 1_700_000_060, { service_id: 'asr' });
    const { last_reaction_at_ms: times } = metricsView(meter.read(), FACTS).model_not_available;
    expect(times).toEqual({ m2m: 1_700_000_000_250, asr: 1_700_000_060_000 });
  });

  it('reasons, slow paths and cuts are grouped as documented', () => {
    const meter = createPrometheusMeter();
    meter.count('scheduler_dispatch_excluded_total', { reason: 'offline' }, 3);
    meter.count('scheduler_dispatch_excluded_total', { reason: 'capacity_exceeded' }, 9);
    meter.count('scheduler_slow_path_total', { path: 'dispatch' }, 4);
    meter.count('scheduler_slow_lock_wait_total', { lock: 'event_loop' }, 2);
    for (const reason of ['send', 'send', 'pause', 'max_bytes'])
      meter.count('scheduler_web_task_finalized_total', { reason });
    const view = metricsView(meter.read(), { ...FACTS, excluded: new Map([['offline', ['node-1']]]) });
    expect(view.dispatch_exclude.by_reason).toEqual([
      { reason: 'capacity_exceeded', total: 9, sample_node_ids: [] },
      { reason: 'offline', total: 3, sample_node_ids: ['node-1'] },
    ]);
    expect(view.observability).toMatchObject({
      slow_path_total: 4,
      slow_path_by_path: { dispatch_total: 4 },
      slow_lock_wait_by_lock: { event_loop_total: 2 },
    });
    expect(view.web_task_segmentation).toMatchObject({
      finalized_total: 4,
      finalized_by_send_total: 2,
      finalized_by_pause_total: 1,
      finalized_by_reason: { max_bytes: 1 },
    });
  });

  it('cluster metrics appear only with several instances', () => {
    const meter = createPrometheusMeter();
    meter.count('scheduler_phase2_redis_op_total', { op: 'reserve-slot', result: 'ok' }, 5);
    meter.count('scheduler_phase2_redis_op_total', { op: 'reserve-slot', result: 'err' });
    meter.count('scheduler_phase2_redis_op_total', { op: 'xack', result: 'ok' }, 50);
    expect(metricsView(meter.read(), FACTS).cluster).toBeUndefined();
    expect(metricsView(meter.read(), { ...FACTS, isShared: true }).cluster?.redis_ops).toEqual([
      { op: 'xack', ok: 50, err: 0 },
      { op: 'reserve-slot', ok: 5, err: 1 },
    ]);
  });

  it('stage percentiles are in milliseconds', () => {
    const meter = createPrometheusMeter();
    for (let at = 0; at < 100; at += 1)
      meter.observe('scheduler_stage_seconds', 0.000_015, { stage: 'select' });
    const { stages } = metricsView(meter.read(), FACTS).dispatch;
    expect(stages.select).toEqual({ count: 100, p50_ms: 0.015, p95_ms: 0.02, p99_ms: 0.02 });
  });
});
