/** Checks that times and sizes that must contain one another do so. Pure. */
import type { CheckFinding } from './origin.ts';
import type { Config } from './settings.ts';

/** How long an instance counts as alive after it last renewed its presence. */
export const presenceTtlMs = (config: Config): number => config.scheduler.heartbeat_interval_seconds * 2_000;

interface Quantity {
  readonly key: string;
  readonly value: number;
  /** For messages: the value as it was written, with its unit. */
  readonly text: string;
}

interface Nest {
  readonly inner: Quantity;
  readonly outer: Quantity;
  readonly mayEqual?: boolean;
  readonly why: string;
}

export function checkNesting(config: Config): {
  readonly problems: readonly CheckFinding[];
  readonly warnings: readonly CheckFinding[];
} {
  const { session_resume_ttl_ms: resumeMs, task_binding: binding } = config.scheduler;
  const problems = nests(config)
    .filter(({ inner, outer, mayEqual }) =>
      mayEqual === true ? inner.value > outer.value : inner.value >= outer.value,
    )
    .map(
      ({ inner, outer, mayEqual, why }): CheckFinding => ({
        keys: [inner.key, outer.key],
        message: `(${inner.text}) must be ${mayEqual === true ? 'at most' : 'less than'} ${outer.key} (${outer.text}): ${why}`,
      }),
    );
  const warnings: CheckFinding[] = [];
  if (binding.lease_seconds * 1_000 < resumeMs) {
    warnings.push({
      keys: ['scheduler.task_binding.lease_seconds', 'scheduler.session_resume_ttl_ms'],
      message: `(${binding.lease_seconds} s) is less than scheduler.session_resume_ttl_ms (${resumeMs} ms): a session that resumes late and sends an utterance again may have it done twice`,
    });
  }
  return { problems, warnings };
}

function nests(config: Config): readonly Nest[] {
  const { scheduler, server } = config;
  const { node_health: health, ejection, service_catalog: catalog, cluster } = scheduler;
  const reserve = ms('scheduler.reserve_timeout_ms', scheduler.reserve_timeout_ms);
  const ack = ms('scheduler.ack_timeout_ms', scheduler.ack_timeout_ms);
  const reservation = ms('scheduler.reservation_ttl_ms', scheduler.reservation_ttl_ms);
  const jobTimeout = seconds('scheduler.job_timeout_seconds', scheduler.job_timeout_seconds);
  const deadline = ms('scheduler.job_deadline_ms', scheduler.job_deadline_ms);
  const presence = seconds('scheduler.heartbeat_interval_seconds', scheduler.heartbeat_interval_seconds);
  const lease = seconds('scheduler.task_binding.lease_seconds', scheduler.task_binding.lease_seconds);
  const retention = ms('scheduler.job_retention_ms', scheduler.job_retention_ms);
  const jobAudio = bytes('scheduler.audio.max_bytes_per_job', scheduler.audio.max_bytes_per_job);
  return [
    { inner: reserve, outer: ack, why: 'the reserve is part of the hand-over of a job' },
    { inner: ack, outer: reservation, why: 'the slot of an unacknowledged job must not be released' },
    {
      inner: reservation,
      outer: jobTimeout,
      why: 'the commit extends a lease and never shortens it',
    },
    { inner: jobTimeout, outer: deadline, why: 'one attempt must fit into the deadline of its job' },
    {
      inner: ms('scheduler.pending_timeout_ms', scheduler.pending_timeout_ms),
      outer: deadline,
      why: 'waiting must leave time to run',
    },
    {
      inner: ms('scheduler.result_gap_timeout_ms', scheduler.result_gap_timeout_ms),
      outer: ms('scheduler.result_gap_max_ms', scheduler.result_gap_max_ms),
      mayEqual: true,
      why: 'a result waits longer for an utterance that a node has than for one that no node has',
    },
    {
      inner: {
        ...presence,
        value: presenceTtlMs(config) * 4,
        text: `${presence.text}, presence TTL ${presenceTtlMs(config)} ms, four of them ${presenceTtlMs(config) * 4} ms`,
      },
      outer: deadline,
      mayEqual: true,
      why: 'a job whose instance dies must be taken over within its deadline, four presence TTLs',
    },
    {
      inner: lease,
      outer: retention,
      mayEqual: true,
      why: 'a repeated request_id must find the result of its job',
    },
    {
      inner: ms('scheduler.cluster.redis.command_timeout_ms', cluster.redis.command_timeout_ms),
      outer: ms('scheduler.cluster.redis.socket_timeout_ms', cluster.redis.socket_timeout_ms),
      why: 'a slow command must fail before its connection does',
    },
    {
      inner: ms('scheduler.cluster.redis.command_timeout_ms', cluster.redis.command_timeout_ms),
      outer: ack,
      why: 'a command that hangs must leave time for the acknowledgement',
    },
    {
      inner: seconds('scheduler.node_health.heartbeat_interval_seconds', health.heartbeat_interval_seconds),
      outer: seconds('scheduler.node_health.heartbeat_timeout_seconds', health.heartbeat_timeout_seconds),
      why: 'a node must have time for a heartbeat before it counts as silent',
    },
    {
      inner: ms('scheduler.ejection.base_ms', ejection.base_ms),
      outer: ms('scheduler.ejection.max_ms', ejection.max_ms),
      mayEqual: true,
      why: 'the first ejection is the shortest',
    },
    {
      inner: seconds('scheduler.service_catalog.backoff_base_seconds', catalog.backoff_base_seconds),
      outer: seconds('scheduler.service_catalog.backoff_max_seconds', catalog.backoff_max_seconds),
      mayEqual: true,
      why: 'the first wait is the shortest',
    },
    {
      inner: count(
        'scheduler.node_health.failure_threshold.failure_count',
        health.failure_threshold.failure_count,
      ),
      outer: count(
        'scheduler.node_health.failure_threshold.window_size',
        health.failure_threshold.window_size,
      ),
      mayEqual: true,
      why: 'otherwise no node could ever fail',
    },
    {
      inner: bytes('scheduler.web_task_segmentation.max_bytes', scheduler.web_task_segmentation.max_bytes),
      outer: jobAudio,
      mayEqual: true,
      why: 'an utterance must fit into the audio of a job',
    },
    {
      inner: jobAudio,
      outer: bytes('scheduler.audio.max_bytes_total', scheduler.audio.max_bytes_total),
      mayEqual: true,
      why: 'the audio of one job must fit into the store',
    },
    {
      inner: bytes('scheduler.web_task_segmentation.max_bytes', scheduler.web_task_segmentation.max_bytes),
      outer: bytes('scheduler.audio.max_bytes_per_session', scheduler.audio.max_bytes_per_session),
      mayEqual: true,
      why: 'an utterance must fit into the audio of its session',
    },
    {
      inner: percent('scheduler.backpressure.slow_down_percent', scheduler.backpressure.slow_down_percent),
      outer: percent('scheduler.backpressure.pause_percent', scheduler.backpressure.pause_percent),
      mayEqual: true,
      why: 'a session is slowed down before it is stopped',
    },
    {
      inner: ms('server.headers_timeout_ms', server.headers_timeout_ms),
      outer: ms('server.request_timeout_ms', server.request_timeout_ms),
      mayEqual: true,
      why: 'the headers are part of the request',
    },
  ];
}

const ms = (key: string, value: number): Quantity => ({ key, value, text: `${value} ms` });
const seconds = (key: string, value: number): Quantity => ({ key, value: value * 1_000, text: `${value} s` });
const bytes = (key: string, value: number): Quantity => ({ key, value, text: `${value} bytes` });
const percent = (key: string, value: number): Quantity => ({ key, value, text: `${value} %` });
const count = (key: string, value: number): Quantity => ({ key, value, text: `${value}` });
