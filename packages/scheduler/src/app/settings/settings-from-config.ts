/** Composition root: the settings of each part, from the names and units of the configuration. Pure. */

import { fileURLToPath } from 'node:url';
import type { JobStoreLimits } from '../../adapters/memory/job-store.ts';
import type { UsageStoreLimits } from '../../adapters/memory/usage-store.ts';
import type { Config } from '../../config/settings.ts';
import { credentialsOf, tokenKeysOf } from '../../config/tokens.ts';
import type { CoreServices } from '../../domain/requirements.ts';
import type { CatalogueSettings } from '../../management/catalogue/catalogue-state.ts';
import type { ModelReportSettings } from '../../management/marks/model-reports.ts';
import type { DeclarationLimits } from '../../management/registration/declaration-budget.ts';
import type { ManagementSettings } from '../../management/settings.ts';
import type { HedgeSettings } from '../../runtime/attempts/hedging.ts';
import type { JobServiceSettings } from '../../runtime/create-job-service.ts';
import type { SessionServiceDeps } from '../../session/create-session-service.ts';
import type { AccessSettings } from '../../transport/access/create-gate.ts';
import type { GateCredentials } from '../../transport/access/gate.ts';
import { HTTP_DEFAULTS, type HttpSettings } from '../../transport/http/server/http-services.ts';
import type { NodeLinkSettings } from '../../transport/link/node-link.ts';
import type { SocketSettings } from '../../transport/ws/socket-server.ts';
import { tenantShare } from './tenancy.ts';

const SECOND = 1_000;
/** Of the heap, for what nodes declare; the rest is for jobs, sessions and audio. */
const HEAP_SHARE = 0.4;
/** Nodes per slice of the health scan: well below 5 ms (I6). */
const SCAN_BATCH = 500;
const MAX_SESSIONS_REMEMBERED = 100_000;
/** Long enough for a node that inspects its hardware first. A legacy node tries to connect only twice. */
const REGISTRATION_DEADLINE_MS = 60_000;

/** Far more than a deployment names; what an operator's token names beyond them pushes out the one that was idle longest. */
const MAX_TENANTS_WITH_USAGE = 10_000;

export const usageLimits = ({ scheduler }: Config): UsageStoreLimits => ({
  retentionDays: scheduler.usage.usage_retention_days,
  maxTenants: MAX_TENANTS_WITH_USAGE,
});

export const coreServices = ({ core_services: core }: Config['scheduler']): CoreServices => ({
  asr: core.asr_service_id,
  nmt: core.nmt_service_id,
  tts: core.tts_service_id,
});

/** `heapBytes`: the most that the process may allocate. */
export function declarationLimits({ scheduler }: Config, heapBytes: number): DeclarationLimits {
  const { max_node_bytes, max_bytes, max_credential_percent } = scheduler.declarations;
  const fleetBytes = max_bytes ?? HEAP_SHARE * heapBytes;
  const share = max_credential_percent / 100;
  return {
    nodeBytes: max_node_bytes,
    fleetBytes: Math.round(fleetBytes),
    credentialBytes: Math.round(fleetBytes * share),
    credentialNodes: Math.ceil(scheduler.max_nodes * share),
  };
}

export function managementSettings({ scheduler }: Config): ManagementSettings {
  const health = scheduler.node_health;
  const { load_balancer: load, ejection } = scheduler;
  return {
    maxNodes: scheduler.max_nodes,
    defaultSlots: scheduler.max_concurrent_jobs_per_node,
    legacySlots: scheduler.legacy_node_slots,
    requireGpu: health.require_gpu,
    profile: {
      assumeAnyLanguage: scheduler.assume_any_language,
      coreServices: coreServices(scheduler),
    },
    heartbeatIntervalMs: health.heartbeat_interval_seconds * SECOND,
    heartbeatTimeoutMs: health.heartbeat_timeout_seconds * SECOND,
    ...(scheduler.heartbeat_stale_ms !== undefined && { heartbeatStaleMs: scheduler.heartbeat_stale_ms }),
    nodeReconnectGraceMs: scheduler.node_reconnect_grace_ms,
    removeStaleAfterMs: scheduler.cluster.node_snapshot.remove_stale_after_seconds * SECOND,
    scanIntervalMs: Math.min(health.status_scan_interval_seconds, 1) * SECOND,
    scanBatch: SCAN_BATCH,
    thresholds: {
      cpuPercent: load.cpu_threshold_percent,
      gpuPercent: load.gpu_threshold_percent,
      memoryPercent: load.memory_threshold_percent,
    },
    health: {
      checkCount: health.health_check_count,
      warmupTimeoutMs: health.warmup_timeout_seconds * SECOND,
      failureWindow: health.failure_threshold.window_size,
      failureCount: health.failure_threshold.failure_count,
      consecutiveFailureCount: health.failure_threshold.consecutive_failure_count,
      flapWindowMs: health.flap_window_seconds * SECOND,
      flapMaxChecks: health.flap_max_checks,
    },
    ejection: {
      windowMs: ejection.window_ms,
      minSamples: ejection.min_samples,
      failurePercent: ejection.failure_percent,
      baseMs: ejection.base_ms,
      maxMs: ejection.max_ms,
      maxEjectedPercent: ejection.max_ejected_percent,
      probeTimeoutMs: scheduler.job_timeout_seconds * SECOND,
    },
    marks: {
      ttlMs: scheduler.model_not_available.unavailable_ttl_seconds * SECOND,
      debounceMs: scheduler.model_not_available.debounce_window_seconds * SECOND,
      probeTimeoutMs: scheduler.job_timeout_seconds * SECOND,
      maxPerNode: MAX_MARKS_PER_NODE,
      maxKnown: MAX_MARKS,
    },
  };
}

/** More services than a node has. */
const MAX_MARKS_PER_NODE = 64;
/** For all nodes of this instance together. */
const MAX_MARKS = 100_000;

export function modelReportSettings({ scheduler }: Config): ModelReportSettings {
  const { debounce_window_seconds, node_ratelimit_window_seconds, node_ratelimit_max } =
    scheduler.model_not_available;
  return {
    debounceMs: debounce_window_seconds * SECOND,
    limitWindowMs: node_ratelimit_window_seconds * SECOND,
    limitMax: node_ratelimit_max,
  };
}

export const linkSettings = ({ scheduler }: Config): NodeLinkSettings => ({
  endpointTimeoutMs: scheduler.ack_timeout_ms,
  committedMs: scheduler.job_timeout_seconds * SECOND + scheduler.reservation_ttl_ms,
});

/** A node sends each heartbeat earlier or later by up to this share of the interval. */
const HEARTBEAT_JITTER = 0.2;
/** A node that has a job names it in its next heartbeat; this much later the heartbeat has been received. */
const HEARTBEAT_ARRIVAL_MS = 2_000;

const abandonedLeaseMs = ({ reservation_ttl_ms, node_health }: Config['scheduler']): number => {
  const longestIntervalMs = node_health.heartbeat_interval_seconds * SECOND * (1 + HEARTBEAT_JITTER);
  return Math.max(reservation_ttl_ms, longestIntervalMs + HEARTBEAT_ARRIVAL_MS);
};

export function jobServiceSettings({ scheduler }: Config): JobServiceSettings {
  return {
    ackTimeoutMs: scheduler.ack_timeout_ms,
    reservationTtlMs: scheduler.reservation_ttl_ms,
    jobTimeoutMs: scheduler.job_timeout_seconds * SECOND,
    jobDeadlineMs: scheduler.job_deadline_ms,
    pendingTimeoutMs: scheduler.pending_timeout_ms,
    fleetWarmupMs: scheduler.fleet_warmup_ms,
    // A late report may take as long as an attempt may be unacknowledged.
    leaseGraceMs: scheduler.reservation_ttl_ms,
    abandonedLeaseMs: abandonedLeaseMs(scheduler),
    isReplicaAwaited: scheduler.cluster.enabled && scheduler.cluster.durability === 'replica',
    cancelsTimedOut: scheduler.job_timeout.send_cancel,
    maxRetry: scheduler.max_retry,
    sampleK: scheduler.sample_k,
    policy: scheduler.selection.policy,
    isSpreadEnabled: scheduler.task_binding.spread_enabled,
    spreadWindowMs: scheduler.task_binding.spread_window_seconds * SECOND,
    retryBudget: scheduler.retry_budget,
    maxWaiting: scheduler.queue.max_waiting,
    refusesLate: scheduler.queue.refuse_late,
    hedge: hedgeSettings(scheduler.hedge),
    maxSessionsRemembered: MAX_SESSIONS_REMEMBERED,
  };
}

function hedgeSettings(hedge: Config['scheduler']['hedge']): HedgeSettings | undefined {
  if (hedge.classes.length === 0) return undefined;
  return {
    classes: new Set(hedge.classes),
    overdueFactor: hedge.overdue_factor,
    budgetPercent: hedge.budget_percent,
    allowsWithoutCancel: hedge.without_cancel,
  };
}

export function sessionSettings({ scheduler, session, server }: Config): SessionServiceDeps['settings'] {
  const { web_task_segmentation: cut, utterance_group: group, backpressure } = scheduler;
  const edge = cut.edge_stabilization;
  return {
    segmentation: {
      pauseMs: cut.pause_ms,
      maxDurationMs: cut.max_duration_ms,
      maxBytes: cut.max_bytes,
      playbackMaxMs: cut.playback_max_ms,
      hangoverAutoMs: edge.hangover_auto_ms,
      hangoverManualMs: edge.hangover_manual_ms,
      lateAudioMs: edge.late_audio_ms,
    },
    paddingAutoMs: edge.padding_auto_ms,
    paddingManualMs: edge.padding_manual_ms,
    delivery: {
      gapTimeoutMs: scheduler.result_gap_timeout_ms,
      gapMaxMs: scheduler.result_gap_max_ms,
      maxPendingResults: session.max_pending_results,
      // Half of the send buffer of a connection: other messages need the rest.
      maxPendingBytes: Math.min(session.max_result_bytes, server.limits.max_buffered_bytes / 2),
      maxResultBytes: session.max_result_bytes,
      maxKeptResults: session.max_kept_results,
    },
    group: { windowMs: group.window_ms, maxParts: group.max_parts, maxChars: group.max_chars },
    pressure: {
      slowDownShare: backpressure.slow_down_percent / 100,
      pauseShare: backpressure.pause_percent / 100,
      resumeAfterMs: backpressure.resume_after_ms,
    },
    resumeTtlMs: scheduler.session_resume_ttl_ms,
    pendingTimeoutMs: scheduler.pending_timeout_ms,
    jobDeadlineMs: scheduler.job_deadline_ms,
    maxSessions: session.max_sessions,
    maxResultBytesTotal: session.max_result_bytes_total,
    maxUtterances: session.max_utterances,
    maxAudioBytes: scheduler.audio.max_bytes_per_session,
    indexBase: session.utterance_index_base,
    maxWaiting: scheduler.queue.max_waiting,
    coreServices: coreServices(scheduler),
  };
}

export function catalogueSettings({
  scheduler,
}: Config): CatalogueSettings & { readonly requestTimeoutMs: number } {
  const catalog = scheduler.service_catalog;
  return {
    refreshIntervalMs: catalog.refresh_interval_seconds * SECOND,
    requestTimeoutMs: catalog.request_timeout_ms,
    backoffAfterFailures: catalog.backoff_after_failures,
    backoffBaseMs: catalog.backoff_base_seconds * SECOND,
    backoffMaxMs: catalog.backoff_max_seconds * SECOND,
  };
}

export function jobStoreLimits(config: Config): JobStoreLimits {
  const { scheduler } = config;
  return {
    bindingLeaseMs: scheduler.task_binding.lease_seconds * SECOND,
    retentionMs: scheduler.job_retention_ms,
    maxRetained: scheduler.job_retention_max_count,
    maxRetainedBytes: scheduler.job_retention_max_bytes,
    maxInflight: scheduler.max_inflight_jobs,
    maxBindings: scheduler.task_binding.max_bindings,
    tenantShare: tenantShare(config),
  };
}

export const gateCredentials = (config: Config): GateCredentials => ({
  tokens: credentialsOf(config).map(
    ({ sha256, role, tenant_id, node_ids, pool_ids, region, may_mint, name, certificate }) => ({
      sha256,
      role,
      tenantId: tenant_id,
      nodeIds: node_ids,
      poolIds: pool_ids,
      region,
      certificate,
      mayMint: may_mint,
      name,
    }),
  ),
  keys: tokenKeysOf(config),
});

/** `machine`: the name of the machine. */
export function accessSettings(config: Config, machine: string): AccessSettings {
  const { server } = config;
  return {
    ...gateCredentials(config),
    anonymous: server.anonymous,
    trustedNetworks: server.trusted_networks,
    trustedProxies: server.trusted_proxies,
    allowedHosts: ownNames(server, machine),
    allowedOrigins: server.allowed_origins,
    limits: {
      maxConnections: server.limits.max_connections,
      maxConnectionsPerTenant: server.limits.max_connections_per_tenant,
      maxConnectionsPerAddress: server.limits.max_connections_per_address,
      requestsPerSecond: server.limits.requests_per_second,
      requestsPerSecondPerTenant: server.limits.requests_per_second_per_tenant,
      messagesPerSecond: server.limits.messages_per_second,
      messagesBurst: server.limits.messages_burst,
    },
  };
}

function ownNames({ host, advertise_url, allowed_hosts }: Config['server'], machine: string): string[] {
  const advertised = advertise_url === undefined ? [] : [new URL(advertise_url).hostname];
  return [...allowed_hosts, host, machine, ...advertised].map((name) => name.toLowerCase());
}

/** The same folder from the sources and from dist. */
const CONSOLE_FOLDER = fileURLToPath(new URL('../../../dist/console', import.meta.url));

export function httpSettings(
  { server, scheduler, log }: Config,
  version: string,
  instanceId: string | undefined,
): HttpSettings {
  return {
    ...HTTP_DEFAULTS,
    maxBodyBytes: server.limits.max_message_bytes,
    maxNodeBodyBytes: server.limits.max_node_message_bytes,
    requestTimeoutMs: server.request_timeout_ms,
    headersTimeoutMs: server.headers_timeout_ms,
    keepAliveTimeoutMs: server.keep_alive_timeout_ms,
    maxConnections: server.limits.max_connections,
    maxIdleConnections: server.limits.max_idle_connections,
    maxIdleConnectionsPerAddress: server.limits.max_idle_connections_per_address,
    trustedProxies: server.trusted_proxies,
    hasDocs: server.docs,
    corsOrigins: server.cors_origins,
    basePath: server.base_path,
    ...(server.console && { consoleFolder: CONSOLE_FOLDER }),
    logsRequests: log.level === 'debug',
    coreServices: coreServices(scheduler),
    version,
    ...(instanceId !== undefined && { instanceId }),
  };
}

export function socketSettings({ server }: Config): SocketSettings {
  const { limits } = server;
  return {
    pingIntervalMs: server.ping_interval_ms,
    maxInvalidMessages: limits.max_invalid_messages,
    maxBufferedBytes: limits.max_buffered_bytes,
    maxDroppedMessages: limits.messages_burst,
    maxWaitingMessages: limits.messages_burst,
    maxWaitingBytes: 2 * limits.max_node_message_bytes,
    closeTimeoutMs: 2_000,
    maxNodeMessageBytes: limits.max_node_message_bytes,
    registrationDeadlineMs: REGISTRATION_DEADLINE_MS,
  };
}
