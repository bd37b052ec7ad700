/** What a node with these engines offers, stage by stage, as its registration says it. Pure. */
import type { NodeCapabilities } from '@lingua/sdk/node';
import type { Engines, OfferedPair } from '../engines/engines.ts';
import { repairedLanguages } from '../repair/repair.ts';
import type { Stage } from './chain-of-job.ts';

type Languages = NonNullable<NodeCapabilities['language_capabilities']>;

/** The engines without those of stages that are not offered. */
export const offeredEngines = (engines: Engines, stages: readonly Stage[]): Engines => ({
  recognizers: stages.includes('asr') ? engines.recognizers : [],
  translators: stages.includes('nmt') ? engines.translators : [],
  synthesizers: stages.includes('tts') ? engines.synthesizers : [],
});

export function capabilitiesOf(
  { recognizers, translators, synthesizers }: Engines,
  stages: readonly Stage[],
  version: string,
): NodeCapabilities {
  const unique = (lists: readonly (readonly string[])[]): string[] => [...new Set(lists.flat())].sort();
  const models = {
    asr: recognizers.map(({ model }) => model),
    semantic: stages.includes('semantic') ? ['form-rules'] : [],
    nmt: translators.map(({ model }) => model),
    tts: synthesizers.map(({ model }) => model),
  };
  const installed = Object.entries(models).flatMap(([type, names]) => names.map((name) => ({ type, name })));
  const language_capabilities: Languages = {
    asr_languages: unique(recognizers.map(({ languages }) => languages)),
    tts_languages: unique(synthesizers.map(({ languages }) => languages)),
    semantic_languages: stages.includes('semantic') ? repairedLanguages() : [],
    semantic_core_ready: stages.includes('semantic'),
    nmt_capabilities: translators.flatMap(({ model, pairs }) => [
      ...translation(
        model,
        pairs.filter(({ via }) => via === undefined),
      ),
      ...translation(
        `${model}-pivot`,
        pairs.filter(({ via }) => via !== undefined),
      ),
    ]),
  };
  return {
    version,
    capability_by_type: (['asr', 'semantic', 'nmt', 'tts'] as const)
      .filter((type) => models[type].length > 0)
      .map((type) => ({ type, ready: true, devices: ['cpu'] })),
    installed_services: installed.map(({ type, name }) => ({
      service_id: `${type}-${name}`,
      type: type as Stage,
      device: 'cpu' as const,
      status: 'running' as const,
      engine: name,
    })),
    language_capabilities,
  };
}

function translation(
  model: string,
  pairs: readonly OfferedPair[],
): NonNullable<Languages['nmt_capabilities']> {
  if (pairs.length === 0) return [];
  return [
    {
      model_id: model,
      languages: [...new Set(pairs.flatMap(({ source, target }) => [source, target]))].sort(),
      rule: 'specific_pairs',
      supported_pairs: pairs.map(({ source, target }) => ({ src: source, tgt: target })),
    },
  ];
}
