/**
 * Translates the capabilities that a node reports to domain types, for both generations of the capability
 * schema. Pure.
 */
import type {
  FeatureFlags,
  LanguageCapabilities,
  LanguagePair,
  NodeHeartbeat,
  NodeRegister,
} from '@lingua/protocol';
import type {
  CapabilityReport,
  Efficiencies,
  Hardware,
  ReportedLanguages,
  ReportedModel,
  ReportedService,
} from '../../domain/capability-report.ts';
import type { Direction } from '../../domain/language.ts';
import { omitUndefined } from './omit-undefined.ts';

type Reported = Pick<
  NodeHeartbeat,
  | 'installed_models'
  | 'installed_services'
  | 'capability_by_type'
  | 'capability_state'
  | 'language_capabilities'
>;

/** Contains only the parts that were sent: absent differs from empty. */
export const toReport = (reported: Reported): Partial<CapabilityReport> =>
  omitUndefined({
    models: reported.installed_models?.map(toModel),
    services: reported.installed_services?.map(toService),
    serviceStates: reported.capability_state && new Map(Object.entries(reported.capability_state)),
    types: reported.capability_by_type?.map(({ type, ready }) => ({ type, isReady: ready })),
    languages: reported.language_capabilities && toLanguages(reported.language_capabilities),
  });

export const toFeatures = (flags: FeatureFlags): readonly string[] =>
  Object.entries(flags)
    .filter(([, isOffered]) => isOffered === true)
    .map(([feature]) => feature);

export const toHardware = ({ cpu_cores, memory_gb, gpus }: NodeRegister['hardware']): Hardware => ({
  cpuCores: cpu_cores,
  memoryGb: memory_gb,
  gpusGb: gpus?.map((gpu) => gpu.memory_gb) ?? [],
});

/** A heartbeat names only services that worked since the last one; an idle node keeps its figures. */
export function toEfficiencies(metrics: NodeHeartbeat['processing_metrics']): Efficiencies | undefined {
  const named = Object.entries(metrics?.serviceEfficiencies ?? {});
  return named.length === 0 ? undefined : named;
}

const toModel = (model: NodeRegister['installed_models'][number]): ReportedModel => ({
  modelId: model.model_id,
  kind: model.kind,
  isEnabled: model.enabled ?? true,
  ...omitUndefined({ sourceLanguage: model.src_lang, targetLanguage: model.tgt_lang }),
});

const toService = (service: NonNullable<NodeRegister['installed_services']>[number]): ReportedService => ({
  serviceId: service.service_id,
  ...omitUndefined({ type: service.type, status: service.status }),
});

const toDirection = (pair: LanguagePair): Direction => ({ source: pair.src, target: pair.tgt });

const toLanguages = (declared: LanguageCapabilities): ReportedLanguages =>
  omitUndefined({
    asr: declared.asr_languages,
    tts: declared.tts_languages,
    semantic: declared.semantic_languages,
    isSemanticCoreReady: declared.semantic_core_ready,
    translations: declared.nmt_capabilities?.map((model) => ({
      languages: model.languages,
      rule: model.rule,
      blockedPairs: model.blocked_pairs?.map(toDirection) ?? [],
      supportedPairs: model.supported_pairs?.map(toDirection) ?? [],
    })),
    pairs: declared.supported_language_pairs?.map(toDirection),
  });
