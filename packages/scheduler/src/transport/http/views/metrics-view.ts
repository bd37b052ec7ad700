/** Prints the meter's series for /api/v1/metrics. Counts nothing itself, so it cannot differ from /metrics. Pure. */
import type { MetricsReply, StageFigures } from '@lingua/protocol';
import type { NodeId } from '../../../domain/ids.ts';
import type { MetricName } from '../../../domain/metrics.ts';
import { quantile } from '../../../domain/quantile.ts';
import type { DistributionReading, MeterReader } from '../../../ports/meter.ts';

/** Facts that are not numbers, and so are not series. */
export interface MeasuredFacts {
  readonly statsUpdatedAt: number | undefined;
  readonly catalogue: {
    readonly fetchedAt: number | undefined;
    readonly lastSuccessAt: number | undefined;
    readonly lastError: string | undefined;
  };
  readonly excluded: ReadonlyMap<string, readonly NodeId[]>;
  readonly lockWaitWarnMs: number;
  readonly pathWarnMs: number;
  /** There are other instances. */
  readonly isShared: boolean;
}

const TOP = 20;
const OTHER = 'other';

/** Older schedulers omit these groups; this one never does. */
export type MetricsView = MetricsReply & Required<Pick<MetricsReply, 'dispatch' | 'tenants'>>;

export function metricsView(reader: MeterReader, facts: MeasuredFacts): MetricsView {
  const read = createReading(reader);
  const { total, level, by, top, other } = read;
  const { catalogue } = facts;
  const finalized = by('scheduler_web_task_finalized_total', 'reason');
  const isDefined = (value: number | undefined): value is number => value !== undefined;
  return {
    stats: {
      requests_total: total('scheduler_stats_requests_total'),
      stale_total: total('scheduler_stats_stale_total'),
      stale_ratio: level('scheduler_stats_stale_ratio'),
      latency: figuresOf(reader.distributions('scheduler_stats_request_duration_seconds')[0]),
      ...(isDefined(facts.statsUpdatedAt) && { snapshot_updated_at_ms: facts.statsUpdatedAt }),
    },
    service_catalog: {
      ...(isDefined(catalogue.fetchedAt) && { fetched_at_ms: catalogue.fetchedAt }),
      ...(isDefined(catalogue.lastSuccessAt) && { last_success_at_ms: catalogue.lastSuccessAt }),
      fail_count: level('scheduler_service_catalog_fail_count'),
      ...(catalogue.lastError !== undefined && { last_error: catalogue.lastError }),
    },
    model_not_available: {
      received_total: total('scheduler_model_na_received_total'),
      rate_limited_total: total('scheduler_model_na_rate_limited_total'),
      marked_total: total('scheduler_model_na_marked_total'),
      by_service_top: top('scheduler_model_na_by_service_total', 'service_id'),
      by_reason_top: top('scheduler_model_na_by_reason_total', 'reason'),
      rate_limited_by_node_top: top('scheduler_model_na_rate_limited_by_node_total', 'node_id'),
      marked_by_node_top: top('scheduler_model_na_marked_by_node_total', 'node_id'),
      last_reaction_at_ms: Object.fromEntries(
        Object.entries(by('scheduler_model_na_last_reaction_seconds', 'service_id')).map(
          ([service, seconds]) => [service, Math.round(seconds * 1_000)],
        ),
      ),
      other_service_total: other('scheduler_model_na_by_service_total', 'service_id'),
      other_reason_total: other('scheduler_model_na_by_reason_total', 'reason'),
      other_rate_limited_node_total: other('scheduler_model_na_rate_limited_by_node_total', 'node_id'),
      other_marked_node_total: other('scheduler_model_na_marked_by_node_total', 'node_id'),
    },
    dispatch_exclude: {
      by_reason: ranked(by('scheduler_dispatch_excluded_total', 'reason')).map(([reason, count]) => ({
        reason,
        total: count,
        sample_node_ids: [...(facts.excluded.get(reason) ?? [])],
      })),
    },
    web_task_segmentation: {
      finalized_total: total('scheduler_web_task_finalized_total'),
      finalized_by_send_total: finalized.send ?? 0,
      finalized_by_pause_total: finalized.pause ?? 0,
      finalized_by_reason: finalized,
      pause_ms: level('scheduler_web_task_pause_ms'),
    },
    observability: {
      slow_lock_wait_total: total('scheduler_slow_lock_wait_total'),
      slow_path_total: total('scheduler_slow_path_total'),
      lock_wait_warn_ms: facts.lockWaitWarnMs,
      path_warn_ms: facts.pathWarnMs,
      slow_lock_wait_by_lock: asTotals(by('scheduler_slow_lock_wait_total', 'lock')),
      slow_path_by_path: asTotals(by('scheduler_slow_path_total', 'path')),
    },
    dispatch: {
      admitted_total: total('scheduler_jobs_admitted_total'),
      refused_total: total('scheduler_jobs_refused_total'),
      refused_by_code: by('scheduler_jobs_refused_total', 'code'),
      requests_per_second: level('scheduler_main_path_qps'),
      reserve_first_try_ratio: level('scheduler_reserve_first_try_ratio'),
      hub_down_success_ratio: level('scheduler_hub_down_dispatch_success_ratio'),
      latency: figuresOf(reader.distributions('scheduler_dispatch_latency_seconds')[0]),
      stages: Object.fromEntries(
        reader
          .distributions('scheduler_stage_seconds')
          .map((stage) => [stage.labels.stage ?? '', figuresOf(stage)]),
      ),
    },
    tenants: {
      refused_by_limit: by('scheduler_tenant_refused_total', 'limit'),
      waiting_served_by_class: by('scheduler_waiting_served_total', 'class'),
    },
    ...(facts.isShared && { cluster: clusterView(reader, read) }),
  };
}

function clusterView(reader: MeterReader, { total, level }: Reading): NonNullable<MetricsReply['cluster']> {
  const ops = new Map<string, { op: string; ok: number; err: number }>();
  for (const { labels, value } of reader.series('scheduler_phase2_redis_op_total')) {
    const { op = '', result } = labels;
    const own = ops.get(op) ?? { op, ok: 0, err: 0 };
    if (result === 'err') own.err += value;
    else own.ok += value;
    ops.set(op, own);
  }
  return {
    inbox_pending: level('scheduler_phase2_inbox_pending'),
    dlq_moved_total: total('scheduler_phase2_dlq_moved_total'),
    reclaimed_total: total('scheduler_phase2_reclaimed_total'),
    redis_ops: [...ops.values()].sort((a, b) => b.ok + b.err - (a.ok + a.err)),
  };
}

type Reading = ReturnType<typeof createReading>;

function createReading(reader: MeterReader) {
  /** Grouped by the values of one label. */
  const by = (name: MetricName, label: string): Record<string, number> =>
    Object.fromEntries(reader.series(name).map(({ labels, value }) => [labels[label] ?? '', value]));
  const total = (name: MetricName): number => reader.series(name).reduce((sum, { value }) => sum + value, 0);
  return {
    by,
    total,
    /** A gauge without labels; 0 until it is set. */
    level: total,
    top: (name: MetricName, label: string): { key: string; count: number }[] =>
      ranked(by(name, label))
        .filter(([key]) => key !== OTHER)
        .slice(0, TOP)
        .map(([key, count]) => ({ key, count })),
    other: (name: MetricName, label: string): number => by(name, label)[OTHER] ?? 0,
  };
}

/** Highest count first; equal counts in alphabetical order, so that two replies can be compared. */
const ranked = (counts: Readonly<Record<string, number>>): [string, number][] =>
  Object.entries(counts).sort(([a, some], [b, more]) => more - some || (a < b ? -1 : 1));

const asTotals = (counts: Readonly<Record<string, number>>): Record<string, number> =>
  Object.fromEntries(Object.entries(counts).map(([name, count]) => [`${name}_total`, count]));

function figuresOf(reading: DistributionReading | undefined): StageFigures {
  const { count = 0, bounds = [], buckets = [] } = reading ?? {};
  const atMs = (q: number): number => Math.round(quantile(q, bounds, buckets) * 1e6) / 1e3;
  return { count, p50_ms: atMs(0.5), p95_ms: atMs(0.95), p99_ms: atMs(0.99) };
}
