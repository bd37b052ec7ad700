/** Vocabulary: a node's report about itself, before management/registration turns it into a profile. */
import type { TenantId } from './ids.ts';
import type { Direction, LanguageSet } from './language.ts';
import type { NodeBinding } from './profile.ts';

export interface ReportedModel {
  readonly modelId: string;
  readonly kind: string;
  readonly sourceLanguage?: string;
  readonly targetLanguage?: string;
  readonly isEnabled: boolean;
}

export interface ReportedService {
  readonly serviceId: string;
  /** Schema 2.0 only. */
  readonly type?: string;
  readonly status?: string;
}

export interface ReportedTranslation {
  readonly languages: LanguageSet;
  /** any_to_any, any_to_en, en_to_any or specific_pairs. */
  readonly rule: string;
  readonly blockedPairs: readonly Direction[];
  readonly supportedPairs: readonly Direction[];
}

/** Absent = not declared, which is not the same as an empty list. */
export interface ReportedLanguages {
  readonly asr?: readonly string[];
  readonly tts?: readonly string[];
  readonly semantic?: readonly string[];
  readonly isSemanticCoreReady?: boolean;
  readonly translations?: readonly ReportedTranslation[];
  readonly pairs?: readonly Direction[];
}

export interface CapabilityReport {
  readonly models: readonly ReportedModel[];
  readonly services?: readonly ReportedService[];
  /** Schema 1.0: service id → ready, downloading, not_installed or error. */
  readonly serviceStates?: ReadonlyMap<string, string>;
  /** Schema 2.0. */
  readonly types?: readonly { readonly type: string; readonly isReady: boolean }[];
  readonly languages?: ReportedLanguages;
}

/** Fixed by a registration until the connection ends; heartbeats may only change the report. */
export interface NodeTraits {
  readonly features: readonly string[];
  readonly gpuCount: number;
  /** The only tenant whose jobs the node takes; absent: all. */
  readonly privateTo?: TenantId;
  /** As in NodeProfile. */
  readonly binding?: NodeBinding;
  /** Absent = a legacy node. */
  readonly supports?: readonly string[];
}

/** Hardware of a node. */
export interface Hardware {
  readonly cpuCores: number;
  readonly memoryGb: number;
  /** Memory of each GPU, in GB. */
  readonly gpusGb: readonly number[];
}

/** Service id and its recent speed: audio time over processing time, or characters per second. */
export type Efficiencies = readonly (readonly [serviceId: string, efficiency: number])[];

/** Percentages 0–100; absent or negative = unknown. */
export interface ResourceReport {
  readonly cpuPercent?: number;
  readonly gpuPercent?: number;
  readonly gpuMemoryPercent?: number;
  readonly memoryPercent?: number;
  readonly runningJobs: number;
  readonly gpuQueueLength?: number;
}
