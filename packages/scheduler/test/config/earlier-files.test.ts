/** Configuration files of earlier programs load unchanged. */
import { expect, it } from 'vitest';
import { configOf, loaded, warningsOf } from './loaded.ts';

it('accepts every key of the dispatch contract', () => {
  const { scheduler } = configOf(`
    [scheduler]
    sample_k = 20
    reservation_ttl_ms = 5000
    max_retry = 2
    candidate_shuffle = true
    health_filter = "ready"
    heartbeat_stale_ms = 15000
    [scheduler.task_binding]
    lease_seconds = 60
    spread_enabled = true
    spread_window_seconds = 20
    [scheduler.web_task_segmentation]
    pause_ms = 900
    [scheduler.observability]
    lock_wait_warn_ms = 11
    path_warn_ms = 51
    [scheduler.phase2.redis]
    key_prefix = "other"
  `);
  expect(scheduler).toMatchObject({
    heartbeat_stale_ms: 15_000,
    task_binding: { lease_seconds: 60, spread_enabled: true, spread_window_seconds: 20 },
    web_task_segmentation: { pause_ms: 900 },
    observability: { lock_wait_warn_ms: 11, path_warn_ms: 51 },
    cluster: { redis: { key_prefix: 'other' } },
  });
});

const EARLIER_FILE = `
[server]
port = 5010
host = "127.0.0.1"
[model_hub]
base_url = "http://localhost:5000"
storage_path = "./models"
[scheduler]
max_concurrent_jobs_per_node = 4
job_timeout_seconds = 30
heartbeat_interval_seconds = 3
[scheduler.job_timeout]
pending_timeout_seconds = 10
failover_max_attempts = 3
scan_interval_ms = 1000
send_cancel = true
[scheduler.load_balancer]
strategy = "least_connections"
resource_threshold = 95.0
[scheduler.node_health]
heartbeat_interval_seconds = 15
heartbeat_timeout_seconds = 45
health_check_count = 3
warmup_timeout_seconds = 60
status_scan_interval_seconds = 30
[scheduler.node_health.failure_threshold]
window_size = 5
failure_count = 3
consecutive_failure_count = 3
[scheduler.model_not_available]
unavailable_ttl_seconds = 60
debounce_window_seconds = 5
node_ratelimit_window_seconds = 10
node_ratelimit_max = 30
[scheduler.task_binding]
lease_seconds = 90
reserved_ttl_seconds = 6
spread_enabled = false
spread_window_seconds = 30
[scheduler.web_task_segmentation]
pause_ms = 3000
max_duration_ms = 10000
[scheduler.web_task_segmentation.edge_stabilization]
hangover_auto_ms = 150
hangover_manual_ms = 200
padding_auto_ms = 220
padding_manual_ms = 280
short_merge_threshold_ms = 400
[scheduler.core_services]
asr_service_id = "node-inference"
nmt_service_id = "nmt-m2m100"
tts_service_id = "piper-tts"
[scheduler.phase2]
enabled = true
instance_id = "auto"
owner_ttl_seconds = 45
stream_block_ms = 1000
stream_count = 64
stream_group = "scheduler"
stream_maxlen = 10000
dlq_enabled = true
dlq_maxlen = 10000
dlq_max_deliveries = 10
dlq_min_idle_ms = 60000
dlq_scan_interval_ms = 5000
dlq_scan_count = 100
[scheduler.phase2.redis]
mode = "cluster"
url = "redis://127.0.0.1:6379"
cluster_urls = ["redis://127.0.0.1:7000", "redis://127.0.0.1:7001"]
key_prefix = "lingua"
[scheduler.phase2.node_snapshot]
enabled = true
presence_ttl_seconds = 45
refresh_interval_ms = 2000
remove_stale_after_seconds = 600
[scheduler.phase2.schema_compat]
enabled = false
stats_snapshot_enabled = false
stats_snapshot_ttl_seconds = 60
stats_snapshot_interval_ms = 5000
node_caps_enabled = false
node_caps_ttl_seconds = 0
session_bind_enabled = false
session_bind_ttl_seconds = 3600
[scheduler.phase3]
enabled = true
mode = "two_level"
pool_count = 16
hash_seed = 0
fallback_scan_all_pools = true
pool_match_scope = "all_required"
pool_match_mode = "exact"
strict_pool_eligibility = true
auto_generate_language_pools = true
random_sample_size = 25
enable_session_affinity = false
[scheduler.phase3.auto_pool_config]
min_nodes_per_pool = 1
max_pools = 50
pool_naming = "pair"
require_semantic = true
enable_mixed_pools = true
[[scheduler.phase3.pools]]
pool_id = 1
name = "core"
required_services = ["nmt-m2m100"]
[scheduler.phase3.pools.language_requirements]
asr_languages = ["zh", "en"]
[scheduler.phase3.pools.language_requirements.nmt_requirements]
languages = ["zh", "en"]
rule = "specific_pairs"
supported_pairs = [{ src = "zh", tgt = "en" }]
[[scheduler.phase3.pools]]
pool_id = 2
[[scheduler.phase3.tenant_overrides]]
tenant_id = "acme"
pool_id = 2
[scheduler.asr_rerun]
max_rerun_count = 2
rerun_timeout_ms = 5000
conference_mode_strict = true
`;

it('accepts every key of the earlier program', () => {
  const { scheduler } = configOf(EARLIER_FILE);
  expect(scheduler).toMatchObject({
    pending_timeout_ms: 10_000,
    max_retry: 3,
    sample_k: 25,
    reservation_ttl_ms: 6000,
    load_balancer: { cpu_threshold_percent: 95, gpu_threshold_percent: 95, memory_threshold_percent: 95 },
  });
  expect(scheduler.pools.pools).toEqual([
    {
      pool_id: 1,
      name: 'core',
      required_services: ['nmt-m2m100'],
      regions: [],
      dedicated: false,
      language_requirements: {
        asr_languages: ['zh', 'en'],
        tts_languages: undefined,
        semantic_languages: undefined,
        nmt_requirements: {
          languages: ['zh', 'en'],
          rule: 'specific_pairs',
          supported_pairs: [{ src: 'zh', tgt: 'en' }],
          blocked_pairs: undefined,
        },
      },
    },
    {
      pool_id: 2,
      name: '',
      required_services: [],
      regions: [],
      dedicated: false,
      language_requirements: undefined,
    },
  ]);
});

it('warns about keys that have no effect, and only about those', () => {
  const keys = warningsOf(EARLIER_FILE)
    .filter((text) => text.includes('has no effect'))
    .map((text) => text.split(' ')[0]);
  expect(keys).toHaveLength(24);
  expect(keys).toContain('scheduler.phase2.owner_ttl_seconds');
  expect(keys).toContain('scheduler.phase2.node_snapshot.presence_ttl_seconds');
  expect(keys).toContain('scheduler.load_balancer.strategy');
  expect(keys).not.toContain('scheduler.phase3.random_sample_size');
});

it('takes a Sentinel deployment with TLS and credentials', () => {
  const { config } = loaded({
    toml: {
      path: 'config.toml',
      text: `
        [scheduler.phase2]
        enabled = true
        [scheduler.phase2.redis]
        mode = "sentinel"
        sentinel_urls = ["redis://a:26379", "redis://b:26379"]
        sentinel_name = "lingua"
        username = "scheduler"
        tls = true`,
    },
    env: { LINGUA_SCHEDULER__PHASE2__REDIS__PASSWORD: 'from the environment' },
  });
  expect(config.scheduler.cluster.redis).toMatchObject({
    sentinel_urls: ['redis://a:26379', 'redis://b:26379'],
    password: 'from the environment',
    tls: true,
  });
});
