/** Cold path: settings of the node registry, in milliseconds and percent, mapped from the configuration file. */
import type { EjectionSettings } from './health/ejection.ts';
import type { HealthSettings } from './health/health.ts';
import type { MarkSettings } from './marks/marks.ts';
import type { ProfileRules } from './registration/profile.ts';

export interface Thresholds {
  readonly cpuPercent: number;
  readonly gpuPercent: number;
  readonly memoryPercent: number;
}

export interface ManagementSettings {
  readonly maxNodes: number;
  /** Slots of a node that declares none. */
  readonly defaultSlots: number;
  /** Slots of every legacy node. */
  readonly legacySlots: number;
  readonly requireGpu: boolean;
  readonly profile: ProfileRules;
  /** Sent to nodes, plus or minus a tenth. */
  readonly heartbeatIntervalMs: number;
  /** Time without a heartbeat after which a node is offline, unless its stale limit is longer. */
  readonly heartbeatTimeoutMs: number;
  /** Age at which a heartbeat is stale. Absent: three times the interval that was sent to the node. */
  readonly heartbeatStaleMs?: number;
  readonly nodeReconnectGraceMs: number;
  /** How long an offline node is kept; 0 = for ever. */
  readonly removeStaleAfterMs: number;
  /** Time between two scans of all nodes; more than a second counts as a second. */
  readonly scanIntervalMs: number;
  /** How many nodes one synchronous piece of a scan checks at most. */
  readonly scanBatch: number;
  readonly thresholds: Thresholds;
  readonly health: HealthSettings;
  readonly ejection: EjectionSettings;
  readonly marks: MarkSettings;
}

/** The heartbeat interval of legacy nodes, which ignore the one they are sent. */
export const LEGACY_INTERVAL_MS = 15_000;
