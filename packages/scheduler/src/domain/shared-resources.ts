/**
 * Vocabulary: everything that tenants share on one instance, with its limit and what one tenant may use of it (I11). Printed into
 * docs/limits.md. A test fills every one of them for one tenant, and checks that another still gets its part.
 */

export interface SharedResource {
  readonly what: string;
  /** The setting with the limit of all tenants; or the limit, if it is fixed. */
  readonly limit: string;
  /** `part`: tenant_limits.max_share_percent of the limit. Otherwise the rule. */
  readonly perTenant: 'part' | string;
  /** A further setting that limits one tenant. */
  readonly ownLimit?: string;
  readonly atLimit: string;
  /** The metric that shows how much is used. */
  readonly metric: string;
}

export const SHARED_RESOURCES = {
  sessions: {
    what: 'Sessions, those that may still be resumed included',
    limit: 'session.max_sessions',
    perTenant: 'part',
    ownLimit: 'scheduler.tenant_limits.max_sessions',
    atLimit:
      'The session of the tenant that has been disconnected longest is dropped. If all are connected, a new one is refused with RATE_LIMITED.',
    metric: 'scheduler_sessions',
  },
  session_results: {
    what: 'Bytes of results that wait or are kept for sessions',
    limit: 'session.max_result_bytes_total',
    perTenant: 'part',
    atLimit: 'The session of the tenant that has been disconnected longest is dropped.',
    metric: 'scheduler_session_result_bytes',
  },
  jobs_in_flight: {
    what: 'Jobs without an outcome',
    limit: 'scheduler.max_inflight_jobs',
    perTenant: 'part',
    ownLimit: 'scheduler.tenant_limits.max_inflight_jobs',
    atLimit: 'A new job is refused with RATE_LIMITED.',
    metric: 'scheduler_jobs_inflight',
  },
  waiting_jobs: {
    what: 'Jobs that wait for a slot',
    limit: 'scheduler.queue.max_waiting',
    perTenant: 'part',
    ownLimit: 'scheduler.queue.max_waiting_per_tenant',
    atLimit: 'A further job does not wait: it is refused with RATE_LIMITED.',
    metric: 'scheduler_jobs_waiting',
  },
  request_bindings: {
    what: 'Request ids that name a job',
    limit: 'scheduler.task_binding.max_bindings',
    perTenant: 'part',
    atLimit:
      'The finished job of the tenant that ended longest ago loses its request id. If none has ended, a new job is refused with RATE_LIMITED.',
    metric: 'scheduler_request_bindings',
  },
  finished_jobs: {
    what: 'Finished jobs that can be read',
    limit: 'scheduler.job_retention_max_count',
    perTenant: 'part',
    atLimit: 'The finished job of the tenant that ended longest ago is dropped.',
    metric: 'scheduler_jobs_retained',
  },
  finished_job_bytes: {
    what: 'Bytes of finished jobs',
    limit: 'scheduler.job_retention_max_bytes',
    perTenant: 'part',
    atLimit: 'The finished job of the tenant that ended longest ago is dropped.',
    metric: 'scheduler_jobs_retained_bytes',
  },
  client_reports: {
    what: 'Jobs with reports of clients',
    limit: '1,000',
    perTenant: 'part',
    atLimit: 'The reports of the job of the tenant that was reported longest ago are dropped.',
    metric: 'scheduler_client_reports_total',
  },
  audio: {
    what: 'Bytes of input audio',
    limit: 'scheduler.audio.max_bytes_total',
    perTenant: 'part',
    atLimit: 'A job with more audio is refused with RATE_LIMITED; a session is asked to pause.',
    metric: 'scheduler_audio_store_bytes',
  },
  dead_letters: {
    what: 'Dead letters: messages between instances that could not be handled',
    limit: 'scheduler.cluster.dlq_maxlen',
    perTenant: 'part',
    atLimit:
      'The oldest dead letter of the tenant is dropped. Those about no known job count together, as if they were of one more tenant.',
    metric: 'scheduler_phase2_dlq_moved_total',
  },
  http_waits: {
    what: 'HTTP requests that wait for a result',
    limit: '10,000',
    perTenant: 'half',
    atLimit: 'A further request is refused with RATE_LIMITED; without wait_ms it needs none.',
    metric: 'scheduler_http_waits',
  },
  event_streams: {
    what: 'Event streams of jobs',
    limit: '10,000',
    perTenant: 'half',
    atLimit: 'A further stream is refused with RATE_LIMITED.',
    metric: 'scheduler_http_waits',
  },
  plan_requests: {
    what: 'HTTP requests for several languages, until their jobs have ended',
    limit: '10,000',
    perTenant: 'half',
    atLimit: 'A further request is refused with RATE_LIMITED.',
    metric: 'scheduler_jobs_inflight',
  },
  connections: {
    what: 'Open sockets',
    limit: 'server.limits.max_connections',
    perTenant: 'its own limit',
    ownLimit: 'server.limits.max_connections_per_tenant',
    atLimit: 'A further socket is refused at the upgrade.',
    metric: 'scheduler_connections',
  },
  rooms: {
    what: 'Rooms',
    limit: 'rooms.max_per_tenant',
    perTenant: 'its own limit',
    atLimit: 'A further room is refused with ROOM_FULL.',
    metric: 'scheduler_rooms',
  },
  requests: {
    what: 'HTTP requests per second',
    limit: 'server.limits.requests_per_second',
    perTenant: 'its own limit',
    ownLimit: 'server.limits.requests_per_second_per_tenant',
    atLimit: 'A further request is refused with RATE_LIMITED.',
    metric: 'scheduler_tenant_refused_total',
  },
} as const satisfies Record<string, SharedResource>;

export type SharedResourceName = keyof typeof SHARED_RESOURCES;
