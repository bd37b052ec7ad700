/** Composition root: the settings of instances that share a store. Pure. */

import type { RedisSettings } from '../../adapters/redis/connection/redis-connection.ts';
import type { InboxSettings } from '../../adapters/redis/inbox.ts';
import type { JobStoreLimits } from '../../adapters/redis/job-store.ts';
import type { PresenceSettings } from '../../cluster/membership/presence.ts';
import type { InboxReaderSettings } from '../../cluster/messaging/inbox-reader.ts';
import type { ReplicaSettings } from '../../cluster/nodes/node-replica.ts';
import { longestPresenceMs } from '../../cluster/nodes/publish-own-nodes.ts';
import { presenceTtlMs } from '../../config/nesting.ts';
import type { Config } from '../../config/settings.ts';
import { partOf } from '../../domain/tenancy.ts';
import { longestIntervalMs } from '../../management/registered-node.ts';
import { jobStoreLimits, managementSettings } from './settings-from-config.ts';
import { tenantShare } from './tenancy.ts';

const SECOND = 1_000;
const HOUR = 3_600_000;
/** I9: the membership view is at most this old. */
const VIEW_MS = 1_000;
const VERIFY_MS = 10_000;

/** Without the certificates, which are in files. */
export function redisSettings({ scheduler }: Config): RedisSettings {
  const { redis } = scheduler.cluster;
  return {
    mode: redis.mode,
    url: redis.url,
    clusterUrls: redis.cluster_urls,
    sentinelUrls: redis.sentinel_urls,
    sentinelName: redis.sentinel_name,
    sentinelUsername: redis.sentinel_username,
    sentinelPassword: redis.sentinel_password,
    username: redis.username,
    password: redis.password,
    db: redis.db,
    isTls: redis.tls,
    connectTimeoutMs: redis.connect_timeout_ms,
    commandTimeoutMs: redis.command_timeout_ms,
    socketTimeoutMs: redis.socket_timeout_ms,
    slotsRefreshIntervalMs: redis.slots_refresh_interval_ms,
  };
}

export function sharedJobLimits(config: Config): JobStoreLimits {
  return {
    ...jobStoreLimits(config),
    resultInlineMaxBytes: config.scheduler.result_inline_max_bytes,
    // A job of a dead instance is taken over within its deadline; its record must still exist then.
    liveMarginMs: 4 * presenceTtlMs(config),
  };
}

export function presenceSettings(config: Config): PresenceSettings {
  const ttlMs = presenceTtlMs(config);
  return { intervalMs: ttlMs / 2, ttlMs, viewMs: Math.min(VIEW_MS, ttlMs / 2) };
}

/** How long node ids stay listed after the last listing by a holder. */
export function forgetNodesAfterMs({ scheduler }: Config): number {
  const { remove_stale_after_seconds: seconds } = scheduler.cluster.node_snapshot;
  return seconds === 0 ? 24 * HOUR : seconds * SECOND;
}

/** How long a node's keys outlive its last report. */
export const nodeIdleMs = (config: Config): number => Math.max(HOUR, 2 * forgetNodesAfterMs(config));

export function replicaSettings(config: Config): ReplicaSettings {
  const { node_snapshot: snapshot } = config.scheduler.cluster;
  return {
    tickMs: snapshot.refresh_interval_ms,
    verifyMs: VERIFY_MS,
    presenceMs: longestPresenceMs(longestIntervalMs(managementSettings(config))),
    enlistMs: Math.min(30 * SECOND, forgetNodesAfterMs(config) / 4),
    maxNodes: config.scheduler.max_nodes,
    readsPerTick: 512,
  };
}

export function inboxSettings(config: Config): InboxSettings {
  const { cluster } = config.scheduler;
  return {
    group: cluster.stream_group,
    maxMessages: cluster.stream_maxlen,
    maxDeliveries: cluster.dlq_max_deliveries,
    maxDead: cluster.dlq_enabled ? cluster.dlq_maxlen : 0,
    maxDeadOfTenant: partOf(cluster.dlq_maxlen, tenantShare(config)),
    minIdleToDieMs: cluster.dlq_min_idle_ms,
  };
}

/**
 * Messages handled within this time share one acknowledging command. After a crash they are read again and change nothing,
 * because the attempts they report on are fenced.
 */
const ACK_AFTER_MS = 1_000;
/** The share of an inbox that may be handled messages whose acknowledgement waits. */
const ACK_SHARE = 1 / 8;
const ACK_AT = 256;

export function inboxReaderSettings({ scheduler: { cluster } }: Config): InboxReaderSettings {
  return {
    maxMessages: cluster.stream_count,
    waitMs: cluster.stream_block_ms,
    scanIntervalMs: cluster.dlq_scan_interval_ms,
    scanCount: cluster.dlq_scan_count,
    idleMs: cluster.reclaim_idle_ms,
    watchdogMs: cluster.stream_block_ms + cluster.redis.socket_timeout_ms,
    ackAfterMs: ACK_AFTER_MS,
    ackAt: Math.min(ACK_AT, Math.ceil(cluster.stream_maxlen * ACK_SHARE)),
  };
}

export const ledgerSettings = (config: Config) => ({
  reserveMs: reserveTimeoutMs(config),
});

/** Undefined: the store's own timeout is not longer, so a timer for every reserve would be useless. */
export function reserveTimeoutMs({ scheduler }: Config): number | undefined {
  const { reserve_timeout_ms: reserveMs, cluster } = scheduler;
  return reserveMs < cluster.redis.command_timeout_ms ? reserveMs : undefined;
}
