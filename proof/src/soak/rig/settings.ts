/**
 * The configuration of a soak: the defaults, but entries are kept for seconds only, so that a steady state comes within a minute,
 * and timeouts of Redis and of other instances are longer, so that a busy machine causes no faults: faults are tested by chaos.
 */

/** Legacy nodes do not declare their slots. */
export const LEGACY_SLOTS = 3;

const [DEADLINE_S, RETENTION_S, RESUME_S, IDLE_ROOM_S] = [24, 10, 6, 8];

/** From here on as much ends as begins: everything kept at the start is gone. */
export const STEADY_AFTER_S = DEADLINE_S + RETENTION_S;

export const SHORTENED = `jobs are kept ${RETENTION_S} s after their end and sessions ${RESUME_S} s after their loss, a silent room ends after ${IDLE_ROOM_S} s, a job ends within ${DEADLINE_S} s`;

export const PREFIX = 'lingua';

export function settingsOf(port: number, redisPort: number | undefined): string {
  const alone = `
[server]
port = ${port}
endpoint_networks = ["127.0.0.0/8"]
drain_timeout_ms = 2000
keep_alive_timeout_ms = 5000
[rooms]
idle_ms = ${IDLE_ROOM_S * 1_000}
[scheduler]
heartbeat_interval_seconds = 3
reserve_timeout_ms = 3500
ack_timeout_ms = 4500
reservation_ttl_ms = 6000
job_timeout_seconds = 8
job_deadline_ms = ${DEADLINE_S * 1_000}
pending_timeout_ms = 5000
job_retention_ms = ${RETENTION_S * 1_000}
session_resume_ttl_ms = ${RESUME_S * 1_000}
legacy_node_slots = ${LEGACY_SLOTS}
[scheduler.task_binding]
lease_seconds = ${RETENTION_S}
[scheduler.node_health]
heartbeat_interval_seconds = 5
[scheduler.audio]
inline_max_bytes = 1024
`;
  if (redisPort === undefined) return alone;
  return `${alone}
[scheduler.cluster]
enabled = true
[scheduler.cluster.redis]
url = "redis://127.0.0.1:${redisPort}"
key_prefix = "${PREFIX}"
command_timeout_ms = 3000
socket_timeout_ms = 6000
`;
}
