/** Cold path: the settings of the node registry, in milliseconds and percent; the configuration file is mapped to them. */
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
  readonly requireGpu: boolean;
  readonly profile: ProfileRules;
  /** Told to nodes, give or take a tenth. */
  readonly heartbeatIntervalMs: number;
  /** Silence after which a node is offline, unless its stale limit is longer. */
  readonly heartbeatTimeoutMs: number;
  /** Age at which a heartbeat is stale. Absent: three times the interval the node was told. */
  readonly heartbeatStaleMs?: number;
  readonly nodeReconnectGraceMs: number;
  /** How long an offline node is remembered; 0 = for ever. */
  readonly removeStaleAfterMs: number;
  /** Time between two looks at every node; at most a second is used. */
  readonly scanIntervalMs: number;
  /** Most nodes that one uninterrupted piece of a scan looks at. */
  readonly scanBatch: number;
  readonly thresholds: Thresholds;
  readonly health: HealthSettings;
  readonly ejection: EjectionSettings;
  readonly marks: MarkSettings;
}

/** Legacy nodes beat this often, whatever they are told. */
export const LEGACY_INTERVAL_MS = 15_000;

/** Nodes are told to beat by this share more or less often, so that a fleet does not beat in step. */
export const INTERVAL_JITTER = 0.1;
