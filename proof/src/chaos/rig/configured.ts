/** The configuration of every instance of a run, as text for the instance and as data for the harness. */
import { loadConfig } from '../../../../packages/scheduler/dist/config/load-config.js';
import { printFinding } from '../../../../packages/scheduler/dist/config/origin.js';
import type { Config } from '../../../../packages/scheduler/dist/config/settings.js';
import { tenantSettings } from '../tenants.ts';

/** Legacy nodes do not declare their slots. */
export const LEGACY_SLOTS = 3;

/**
 * Short where a run would wait for it, long where a busy machine would cut utterances, and few where a limit must be within reach;
 * settings between instances have their defaults.
 */
const SETTINGS = `
endpoint_networks = ["127.0.0.0/8"]
drain_timeout_ms = 8000
[scheduler]
job_timeout_seconds = 8
job_deadline_ms = 20000
pending_timeout_ms = 6000
job_retention_ms = 240000
legacy_node_slots = ${LEGACY_SLOTS}
max_inflight_jobs = 150
[scheduler.queue]
max_waiting = 48
[scheduler.task_binding]
lease_seconds = 90
[scheduler.node_health]
heartbeat_interval_seconds = 5
[scheduler.audio]
inline_max_bytes = 1024
[scheduler.web_task_segmentation]
pause_ms = 10000
[scheduler.web_task_segmentation.edge_stabilization]
late_audio_ms = 20
hangover_manual_ms = 10
hangover_auto_ms = 10
`;

/** `redisPorts`: of Redis; none: one process without it. */
export function configText(
  port: number,
  redisPorts: readonly number[],
  durability: 'primary' | 'replica' = 'primary',
): string {
  const own = `[server]\nport = ${port}\nadvertise_url = "http://127.0.0.1:${port}"`;
  return `${own}${SETTINGS}${redisPorts.length === 0 ? '' : sharedStore(redisPorts, durability)}${tenantSettings()}`;
}

export const sharedStore = (
  ports: readonly number[],
  durability: 'primary' | 'replica' = 'primary',
): string => `
[scheduler.cluster]
enabled = true
durability = "${durability}"
[scheduler.cluster.redis]
mode = "cluster"
cluster_urls = ${JSON.stringify(ports.map((each) => `redis://127.0.0.1:${each}`))}
`;

/** Limits are the same on every port. */
const ANY_PORT = 5_010;

export function configOfRun(redisPorts: readonly number[]): Config {
  const loaded = loadConfig({ toml: { text: configText(ANY_PORT, redisPorts), path: 'chaos.toml' } });
  if (loaded.kind === 'ok') return loaded.config;
  throw new Error(loaded.problems.map(printFinding).join('\n'));
}
