/** Metrics of jobs in dispatch. Data; joined in ../metrics.ts. */
import { type MetricEntry, STAGE_BUCKETS } from './metric-entry.ts';

export const DISPATCH_METRICS = {
  scheduler_jobs_admitted_total: { kind: 'counter', help: 'Jobs accepted for dispatch.' },
  scheduler_jobs_refused_total: {
    kind: 'counter',
    help: 'Dispatch requests refused, by error code.',
    labels: ['code'],
    limits: ['scheduler.audio.max_bytes_per_job'],
  },
  scheduler_jobs_too_late_total: {
    kind: 'counter',
    help: 'Jobs that would have got a slot too late, by what was done at once: refused, or degraded (tried without a voice).',
    labels: ['outcome'],
  },
  scheduler_jobs_settled_total: {
    kind: 'counter',
    help: 'Jobs that reached their outcome, by outcome and error code.',
    labels: ['outcome', 'code'],
  },
  scheduler_jobs_inflight: {
    kind: 'gauge',
    help: 'Jobs accepted and not yet settled.',
    limits: ['scheduler.max_inflight_jobs'],
  },
  scheduler_jobs_waiting: {
    kind: 'gauge',
    help: 'Jobs waiting for a slot.',
    limits: ['scheduler.queue.max_waiting'],
  },
  scheduler_jobs_retained: {
    kind: 'gauge',
    help: 'Settled jobs that can still be read.',
    limits: ['scheduler.job_retention_max_count'],
  },
  scheduler_jobs_retained_bytes: {
    kind: 'gauge',
    help: 'Memory of settled jobs that can still be read.',
    limits: ['scheduler.job_retention_max_bytes'],
  },
  scheduler_request_bindings: {
    kind: 'gauge',
    help: 'Requests bound to their job, so that a repeated request finds it.',
    limits: ['scheduler.task_binding.max_bindings'],
  },
  scheduler_job_listeners: { kind: 'gauge', help: 'Callers that wait for a job or follow its events.' },
  scheduler_no_available_node_total: {
    kind: 'counter',
    help: 'Requests refused because no node was available, by the selector that failed (reserve: no candidate had a slot; phase3: pools; features; models: services by name; types) and the reason that excluded the last nodes that could have taken the job (no_nodes: none is registered; not_registered: the node that the request names with options.strict).',
    labels: ['selector', 'reason'],
  },
  scheduler_reserve_attempt_total: {
    kind: 'counter',
    help: 'Reserve calls by result.',
    labels: ['result'],
    limits: ['scheduler.max_concurrent_jobs_per_node', 'scheduler.legacy_node_slots'],
  },
  scheduler_reserve_first_try_total: {
    kind: 'counter',
    help: 'First reserve call of each new job, by result: the share of jobs whose first candidate had a slot.',
    labels: ['result'],
  },
  scheduler_reserve_first_try_ratio: {
    kind: 'gauge',
    help: 'Share of the new jobs of the last minute whose first candidate had a slot; 1 without new jobs.',
  },
  scheduler_main_path_qps: {
    kind: 'gauge',
    help: 'Dispatch requests per second, accepted and refused, over the last ten seconds.',
  },
  scheduler_dispatch_latency_seconds: {
    kind: 'histogram',
    help: 'Time from the admission of a job until it is sent to its node.',
  },
  scheduler_stage_seconds: {
    kind: 'histogram',
    help: 'Time in each stage of a job. wait: in the queue, if the job had to wait; select: choosing a candidate; reserve: the reserve call to the ledger; send: until the job is on the wire or in the mailbox; ack: from the send to the acknowledgement; run: from the acknowledgement (legacy nodes: from the send) to the result or failure; deliver: from an outcome to its turn in the session; total: from admission to the outcome. Once per try or attempt; total once per job, deliver once per utterance.',
    labels: ['stage'],
    buckets: STAGE_BUCKETS,
  },
  scheduler_ack_timeout_total: { kind: 'counter', help: 'Attempts whose node did not acknowledge in time.' },
  scheduler_node_overload_reject_total: {
    kind: 'counter',
    help: 'Jobs that a node rejected because it was full, by reason.',
    labels: ['reason'],
  },
  scheduler_hedges_total: {
    kind: 'counter',
    help: 'Hedges: second attempts beside overdue ones. sent; won: its result was accepted; took_over: the first attempt ended without a result and the hedge went on; failed: it ended without a result. The others were cancelled because the first attempt finished.',
    labels: ['outcome'],
  },
  scheduler_hedges_refused_total: {
    kind: 'counter',
    help: 'Overdue attempts that got no hedge at that moment, by reason; checked again every 250 ms.',
    labels: ['reason'],
  },
  scheduler_retries_total: {
    kind: 'counter',
    help: 'Attempts after the first, by the reason why the previous one ended.',
    labels: ['reason'],
    limits: ['scheduler.max_retry'],
  },
  scheduler_retry_budget_exhausted_total: {
    kind: 'counter',
    help: 'Retries that were skipped because the retry budget was used up.',
  },
  scheduler_fenced_total: {
    kind: 'counter',
    help: 'Reports of nodes that were ignored because their attempt was no longer current, by kind.',
    labels: ['kind'],
  },
  scheduler_late_report_seconds: {
    kind: 'histogram',
    help: 'Delay of late reports, by kind: from the end of the attempt (abandoned or settled) until the report arrived. Reports for unknown jobs are only counted as fenced.',
    labels: ['kind'],
    buckets: STAGE_BUCKETS,
  },
  scheduler_dispatch_excluded_total: {
    kind: 'counter',
    help: 'Nodes that were excluded from refused requests, by the first reason for each node; summed over all refusals.',
    labels: ['reason'],
  },
  scheduler_leases_lost_total: {
    kind: 'counter',
    help: 'Acknowledgements that came after their lease had expired and the slot was taken.',
  },
  scheduler_dependency_down_total: {
    kind: 'counter',
    help: 'Requests refused because the store did not answer.',
  },
} as const satisfies Record<string, MetricEntry>;
