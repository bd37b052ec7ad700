/** Metrics as JSON: the same series as GET /metrics, summed for people and legacy dashboards. */
import { type Static, Type } from 'typebox';
import { count, extension, label, list, map, measure, optional, quantity, text } from '../shared/bounded.ts';

/** Most frequent first. */
const TOP = 20;
/** A label has at most 200 values and `other`. */
const MOST = 201;

const top = (description: string) =>
  list(
    Type.Object({ key: label('What'), count: count('How often') }),
    TOP,
    `${description}, most often first, at most ${TOP}`,
  );

const totals = (description: string) => map<number>(count('How often'), MOST, description);

export const StageFigures = Type.Object(
  {
    count: count('How often it was measured'),
    p50_ms: quantity('Median, from the buckets of the histogram'),
    p95_ms: quantity('95th percentile'),
    p99_ms: quantity('99th percentile'),
  },
  { title: 'StageFigures', description: 'How long something takes' },
);
export type StageFigures = Static<typeof StageFigures>;

export const MetricsReply = Type.Object(
  {
    stats: Type.Object(
      {
        requests_total: count('Requests for the statistics'),
        stale_total: count('Requests that found no statistics or outdated ones'),
        stale_ratio: extension(quantity('stale_total divided by requests_total; 0 before the first request')),
        latency: extension(StageFigures),
        snapshot_updated_at_ms: optional(count('When they were last updated; absent before the first time')),
      },
      { description: 'Requests for the statistics' },
    ),
    service_catalog: Type.Object(
      {
        fetched_at_ms: optional(count('When the hub was last requested')),
        last_success_at_ms: optional(count('When it last answered')),
        fail_count: count('Failures since then'),
        last_error: optional(text('The last failure', 2_048)),
      },
      { description: 'Refresh of the service catalogue' },
    ),
    model_not_available: Type.Object(
      {
        received_total: count('Reports of missing models'),
        rate_limited_total: count('Reports dropped because the node sent too many'),
        marked_total: count('Times a service was marked unavailable on a node'),
        by_service_top: top('By service'),
        by_reason_top: top('By reason'),
        rate_limited_by_node_top: top('Dropped, by node'),
        marked_by_node_top: top('Marked, by node'),
        last_reaction_at_ms: extension(
          Type.Record(Type.String(), count('Epoch ms'), {
            description:
              'When a report of a missing model last had its costly effect (the service was marked unavailable on a node), by service',
          }),
        ),
        other_service_total: count('Services beyond those counted by name'),
        other_reason_total: count('Reasons beyond those counted by name'),
        other_rate_limited_node_total: count('Dropped, for nodes beyond those counted by name'),
        other_marked_node_total: count('Marked, for nodes beyond those counted by name'),
      },
      { description: 'Reports of models that nodes lack' },
    ),
    dispatch_exclude: Type.Object(
      {
        by_reason: list(
          Type.Object({
            reason: label('Why a node could not take a refused request'),
            total: count('Nodes, summed over all refusals'),
            sample_node_ids: list(label('Node'), 5, 'Some nodes of the last refusal'),
          }),
          MOST,
          'Most often first',
        ),
      },
      { description: 'Why nodes could not take refused requests' },
    ),
    web_task_segmentation: Type.Object(
      {
        finalized_total: count('Utterances cut out of a stream of audio_chunk'),
        finalized_by_send_total: count('By is_final'),
        finalized_by_pause_total: count('By a pause'),
        finalized_by_reason: extension(totals('By the reason for the cut')),
        pause_ms: quantity('Silence that ends an utterance'),
      },
      { description: 'How streams are cut into utterances' },
    ),
    observability: Type.Object(
      {
        slow_lock_wait_total: count('Waits above the threshold'),
        slow_path_total: count('Times an important path was slower than its threshold'),
        lock_wait_warn_ms: count('The threshold; 0: off'),
        path_warn_ms: count('The threshold; 0: off'),
        slow_lock_wait_by_lock: totals('By what was waited for, as <name>_total'),
        slow_path_by_path: totals('By path, as <name>_total'),
      },
      { description: 'What was slower than its threshold' },
    ),
    dispatch: extension(
      Type.Object(
        {
          admitted_total: count('Jobs accepted'),
          refused_total: count('Requests refused'),
          refused_by_code: totals('By error code'),
          requests_per_second: quantity('Accepted and refused, over the last ten seconds'),
          reserve_first_try_ratio: quantity(
            'Share of new jobs that got a slot on the first candidate; last minute',
          ),
          hub_down_success_ratio: quantity(
            'Share of requests accepted while the ModelHub was down; 1 if there were none',
          ),
          latency: StageFigures,
          stages: map<StageFigures>(StageFigures, 16, 'By stage'),
        },
        { description: 'Requests and the stages of their jobs' },
      ),
    ),
    tenants: extension(
      Type.Object(
        {
          refused_by_limit: totals('Requests refused because of a limit of their tenant, by limit'),
          waiting_served_by_class: totals('Jobs that waited and got a slot, by class'),
        },
        { description: 'Refusals by tenant limits, and waiting jobs' },
      ),
    ),
    cluster: optional(
      extension(
        Type.Object(
          {
            inbox_pending: measure('Messages delivered to this instance and not confirmed'),
            dlq_moved_total: count('Messages moved to the dead letters after too many deliveries'),
            reclaimed_total: count('Messages delivered again'),
            redis_ops: list(
              Type.Object({ op: label('Command or script'), ok: count('Succeeded'), err: count('Failed') }),
              MOST,
              'Most often first',
            ),
          },
          { description: 'Messages between instances and their store; absent with a single process' },
        ),
      ),
    ),
  },
  { title: 'MetricsReply', description: 'Since the start of this instance; of this instance only' },
);
export type MetricsReply = Static<typeof MetricsReply>;
