/** The defaults, spelled out: a change of one must be a decision. */
import { expect, expectTypeOf, it } from 'vitest';
import { presenceTtlMs } from '../../src/config/nesting.ts';
import { loaded } from './loaded.ts';

const { config, origins } = loaded();
const { scheduler, server } = config;

it('has the defaults of the timeouts that nest', () => {
  expect(scheduler).toMatchObject({
    reserve_timeout_ms: 800,
    ack_timeout_ms: 3000,
    reservation_ttl_ms: 5000,
    job_timeout_seconds: 60,
    job_deadline_ms: 90_000,
    pending_timeout_ms: 10_000,
    heartbeat_interval_seconds: 2,
  });
  expect(presenceTtlMs(config)).toBe(4000);
});

it('has the defaults of selection and retries', () => {
  expect(scheduler).toMatchObject({
    sample_k: 20,
    candidate_shuffle: true,
    health_filter: 'ready',
    heartbeat_stale_ms: undefined,
    assume_any_language: true,
    max_retry: 2,
    max_concurrent_jobs_per_node: 4,
    legacy_node_slots: 2,
    node_reconnect_grace_ms: 2000,
    selection: { policy: 'weighted_random' },
    load_balancer: { cpu_threshold_percent: 85, gpu_threshold_percent: 85, memory_threshold_percent: 85 },
    retry_budget: { percent: 20, burst: 100 },
    ejection: {
      window_ms: 30_000,
      min_samples: 5,
      failure_percent: 50,
      base_ms: 10_000,
      max_ms: 300_000,
      max_ejected_percent: 50,
    },
  });
});

it('has the defaults of sessions and results', () => {
  expect(scheduler).toMatchObject({
    task_binding: {
      lease_seconds: 90,
      spread_enabled: false,
      spread_window_seconds: 30,
      max_bindings: 200_000,
    },
    web_task_segmentation: {
      pause_ms: 1000,
      max_duration_ms: 20_000,
      max_bytes: 512 * 1024,
      edge_stabilization: {
        hangover_auto_ms: 150,
        hangover_manual_ms: 200,
        padding_auto_ms: 220,
        padding_manual_ms: 280,
      },
    },
    result_gap_timeout_ms: 10_000,
    result_gap_max_ms: 30_000,
    session_resume_ttl_ms: 60_000,
    result_inline_max_bytes: 512 * 1024,
    job_retention_ms: 300_000,
    audio: {
      max_bytes_total: 512 * 1024 * 1024,
      max_bytes_per_job: 8 * 1024 * 1024,
      inline_max_bytes: 64 * 1024,
    },
  });
  expect(config.session.utterance_index_base).toBe('time');
});

it('has the defaults of node health and missing models', () => {
  expect(scheduler.node_health).toEqual({
    heartbeat_interval_seconds: 15,
    heartbeat_timeout_seconds: 45,
    health_check_count: 1,
    warmup_timeout_seconds: 60,
    status_scan_interval_seconds: 30,
    require_gpu: false,
    flap_window_seconds: 300,
    flap_max_checks: 8,
    failure_threshold: { window_size: 5, failure_count: 3, consecutive_failure_count: 3 },
  });
  expect(scheduler.model_not_available).toEqual({
    unavailable_ttl_seconds: 60,
    debounce_window_seconds: 5,
    node_ratelimit_window_seconds: 10,
    node_ratelimit_max: 30,
  });
  expect(scheduler.observability).toEqual({
    lock_wait_warn_ms: 10,
    path_warn_ms: 50,
    otlp_endpoint: undefined,
    trace_sample_ratio: 1,
    trace_service_name: 'lingua-scheduler',
  });
  expect(scheduler.core_services).toEqual({ asr_service_id: '', nmt_service_id: '', tts_service_id: '' });
});

it('has the defaults of several instances and of pools', () => {
  expect(scheduler.cluster).toMatchObject({
    enabled: false,
    instance_id: 'auto',
    durability: 'primary',
    stream_block_ms: 1000,
    stream_count: 64,
    stream_maxlen: 10_000,
    dlq_max_deliveries: 10,
    dlq_scan_interval_ms: 5000,
    reclaim_idle_ms: 5000,
    redis: {
      mode: 'single',
      url: 'redis://127.0.0.1:6379',
      key_prefix: 'lingua',
      command_timeout_ms: 800,
      socket_timeout_ms: 2500,
      slots_refresh_interval_ms: 1000,
    },
  });
  expect(scheduler.pools).toMatchObject({
    enabled: false,
    pool_count: 16,
    hash_seed: 0,
    pool_match_scope: 'core_only',
    strict_pool_eligibility: false,
    pools: [],
    tenant_overrides: [],
  });
});

it('has the defaults of the bounds', () => {
  expect(scheduler).toMatchObject({
    max_inflight_jobs: 100_000,
    max_nodes: 200_000,
    queue: { max_waiting: 10_000, max_waiting_per_tenant: 2000 },
    mailbox: { max_jobs: 64 },
  });
  expect(server.limits).toEqual({
    max_connections: 20_000,
    max_connections_per_tenant: 10_000,
    max_connections_per_address: 20_000,
    max_idle_connections: 5_000,
    max_idle_connections_per_address: 2_000,
    max_message_bytes: 2 * 1024 * 1024,
    max_node_message_bytes: 8 * 1024 * 1024,
    messages_per_second: 200,
    messages_burst: 400,
    requests_per_second_per_tenant: 5000,
    requests_per_second: 50_000,
    max_invalid_messages: 20,
    max_unknown_tokens_per_minute: 60,
    max_buffered_bytes: 8 * 1024 * 1024,
  });
});

it('listens on the loopback only and requires a token', () => {
  expect(server).toMatchObject({
    host: '127.0.0.1',
    port: 5010,
    advertise_url: undefined,
    anonymous: [],
    trusted_networks: ['127.0.0.0/8', '::1/128'],
    allowed_origins: [],
    cors_origins: [],
    endpoint_networks: [],
    tokens: [],
    drain_timeout_ms: 30_000,
    keep_alive_timeout_ms: 72_000,
    ping_interval_ms: 15_000,
  });
  expect(config.log).toEqual({ level: 'info', pretty: false });
});

it('names the default as the origin of every default value', () => {
  expect(new Set([...origins.values()].map(({ kind }) => kind))).toEqual(new Set(['default']));
});

it('cannot be changed by its readers', () => {
  expect(Object.isFrozen(config.scheduler.cluster.redis)).toBe(true);
  expect(Object.isFrozen(config.server.trusted_networks)).toBe(true);
});

it('has the types of the table', () => {
  expectTypeOf(server.port).toEqualTypeOf<number>();
  expectTypeOf(server.anonymous).toEqualTypeOf<
    readonly ('session' | 'node' | 'metrics' | 'viewer' | 'operator')[]
  >();
  expectTypeOf(scheduler.heartbeat_stale_ms).toEqualTypeOf<number | undefined>();
  expectTypeOf(scheduler.cluster.redis.mode).toEqualTypeOf<'single' | 'sentinel' | 'cluster'>();
  expectTypeOf<(typeof server.tokens)[number]['role']>().toEqualTypeOf<
    'node' | 'client' | 'metrics' | 'viewer' | 'operator' | 'admin'
  >();
  // A key without effect cannot be read by mistake.
  expectTypeOf(scheduler.load_balancer).not.toHaveProperty('strategy');
});
