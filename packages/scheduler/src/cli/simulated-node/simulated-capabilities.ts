/** The capabilities that a simulated node reports: the whole pipeline, or some stages of it, in the given languages. */
import type { NodeCapabilities } from '@lingua/sdk/node';
import { STAGES, type Stage } from '../../domain/stage.ts';

export function simulatedCapabilities(
  languages: readonly string[],
  isLegacy: boolean,
  stages: readonly Stage[] = STAGES,
): NodeCapabilities {
  const spokenBy = (stage: Stage): string[] => (stages.includes(stage) ? [...languages] : []);
  return {
    version: '0.1.0-simulated',
    platform: 'linux',
    capability_schema_version: '2.0',
    hardware: { cpu_cores: 16, memory_gb: 64, gpus: [{ name: 'Simulated GPU', memory_gb: 24 }] },
    installed_models: [],
    installed_services: stages.map((type) => ({
      service_id: `simulated-${type}`,
      version: '1.0.0',
      type,
      device: 'gpu',
      status: 'running',
    })),
    capability_by_type: stages.map((type) => ({ type, ready: true, devices: ['gpu'] })),
    features_supported: { emotion_detection: true, speech_rate_detection: true },
    accept_public_jobs: true,
    language_capabilities: {
      asr_languages: spokenBy('asr'),
      tts_languages: spokenBy('tts'),
      semantic_languages: spokenBy('semantic'),
      semantic_core_ready: stages.includes('semantic'),
      // Legacy nodes never report their translation pairs.
      ...(isLegacy ? {} : { nmt_capabilities: translations(stages.includes('nmt') ? languages : []) }),
    },
  };
}

const translations = (languages: readonly string[]) =>
  languages.length === 0
    ? []
    : [{ model_id: 'simulated', languages: [...languages], rule: 'any_to_any' as const }];

/** A fleet on one machine must not report that machine's load: all nodes would count as too busy. */
export const simulatedResources = (running: number, slots: number) => {
  const share = Math.min(1, running / Math.max(1, slots));
  return {
    cpu_percent: Math.round(10 + 30 * share),
    gpu_percent: Math.round(5 + 65 * share),
    gpu_mem_percent: 40,
    mem_percent: 35,
    running_jobs: running,
  };
};
