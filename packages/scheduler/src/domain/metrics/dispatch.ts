/** Metrics of the way of a job through dispatch. Data; joined in ../metrics.ts. */
import { type MetricEntry, STAGE_BUCKETS } from './metric-entry.ts';

export const DISPATCH_METRICS = {
  scheduler_jobs_admitted_total: { kind: 'counter', help: 'Jobs accepted for dispatch.' },
  scheduler_jobs_refused_total: {
    kind: 'counter',
    help: 'Dispatch requests refused, by error code.',
    labels: ['code'],
    limits: ['scheduler.audio.max_bytes_per_job'],
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
    help: 'Requests bound to their job, so that a repeat finds it.',
    limits: ['scheduler.task_binding.max_bindings'],
  },
  scheduler_job_listeners: { kind: 'gauge', help: 'Callers that wait for a job or follow one.' },
  scheduler_no_available_node_total: {
    kind: 'counter',
    help: 'Refusals for want of a node, by what could not be satisfied (reserve: candidates without a slot; phase3: within the pools; features; models: services by name; types) and the reason that kept most nodes from it.',
    labels: ['selector', 'reason'],
  },
  scheduler_reserve_attempt_total: {
    kind: 'counter',
    help: 'Reserve calls by result.',
    labels: ['result'],
    limits: ['scheduler.max_concurrent_jobs_per_node'],
  },
  scheduler_reserve_first_try_total: {
    kind: 'counter',
    help: 'First reserve of each new job, by result: what part of them had a slot where they looked first.',
    labels: ['result'],
  },
  scheduler_reserve_first_try_ratio: {
    kind: 'gauge',
    help: 'Part of the new jobs of the last minute that had a slot where they looked first; 1 if there were none.',
  },
  scheduler_main_path_qps: {
    kind: 'gauge',
    help: 'Dispatch requests per second, accepted and refused, over the last ten seconds.',
  },
  scheduler_dispatch_latency_seconds: {
    kind: 'histogram',
    help: 'From admission to the job leaving for its node.',
  },
  scheduler_stage_seconds: {
    kind: 'histogram',
    help: 'Stages of a job. wait: in the queue, if it had to; select: choosing a candidate, until the ledger is asked; reserve: until the ledger has answered; send: until the job is on the wire or in the mailbox; ack: from the send until the acknowledgement is heard; run: from there, or from the send to a node that does not acknowledge, until its result or failure is heard; deliver: from an outcome to its turn in the session; total: from admission to the outcome. Once per try or attempt; total once per job, deliver once per utterance.',
    labels: ['stage'],
    buckets: STAGE_BUCKETS,
  },
  scheduler_ack_timeout_total: { kind: 'counter', help: 'Attempts whose node did not acknowledge in time.' },
  scheduler_node_overload_reject_total: {
    kind: 'counter',
    help: 'Jobs a node refused for lack of room, by reason.',
    labels: ['reason'],
  },
  scheduler_retries_total: {
    kind: 'counter',
    help: 'Attempts after the first, by why the one before ended.',
    labels: ['reason'],
    limits: ['scheduler.max_retry'],
  },
  scheduler_retry_budget_exhausted_total: {
    kind: 'counter',
    help: 'Retries not made because the retry budget was used up.',
  },
  scheduler_fenced_total: {
    kind: 'counter',
    help: 'Answers that changed nothing because their attempt was no longer current, by kind.',
    labels: ['kind'],
  },
  scheduler_late_answer_seconds: {
    kind: 'histogram',
    help: 'By how much answers came too late: from the end of their attempt, given up or settled, until they were heard; by kind. Those of jobs nobody remembers are only counted as fenced.',
    labels: ['kind'],
    buckets: STAGE_BUCKETS,
  },
  scheduler_dispatch_excluded_total: {
    kind: 'counter',
    help: 'Nodes that could not take a refused request, by the first reason that spoke against each; added up over all refusals.',
    labels: ['reason'],
  },
  scheduler_leases_lost_total: {
    kind: 'counter',
    help: 'Acknowledgements whose lease had expired and whose slot was gone.',
  },
  scheduler_dependency_down_total: {
    kind: 'counter',
    help: 'Requests refused because the store could not be asked.',
  },
} as const satisfies Record<string, MetricEntry>;
