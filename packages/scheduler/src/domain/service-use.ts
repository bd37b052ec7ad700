/** Vocabulary: the services of a node that a job uses, derived from its need. Equal for most jobs, which then share one object. */
import { FEATURES } from './features.ts';
import type { Need } from './need.ts';

export interface ServiceUse {
  /** Any ready service of the type may do the work. */
  readonly types: readonly string[];
  /** By id, including those that provide a requested feature. */
  readonly services: readonly string[];
}

type Wants = Pick<
  Need,
  'usesAsr' | 'usesNmt' | 'usesTts' | 'skipsSemantic' | 'types' | 'services' | 'features'
>;

const NONE: readonly string[] = [];

export const NO_USE: ServiceUse = { types: NONE, services: NONE };

const plainUse = (flags: number): ServiceUse => ({
  types: STAGES.filter((_, at) => (flags & (1 << at)) !== 0),
  services: NONE,
});

const STAGES = ['semantic', 'asr', 'nmt', 'tts'] as const;
/** Shared objects for jobs that need stages only: this runs for every attempt, so it allocates nothing. */
const PLAIN_USES: readonly ServiceUse[] = Array.from({ length: 16 }, (_, flags) => plainUse(flags));

export function useOf(need: Wants): ServiceUse {
  const flags =
    (need.skipsSemantic ? 0 : 1) | (need.usesAsr ? 2 : 0) | (need.usesNmt ? 4 : 0) | (need.usesTts ? 8 : 0);
  const plain = PLAIN_USES[flags] as ServiceUse;
  const features = need.features ?? NONE;
  if (need.types.length === 0 && need.services.length === 0 && features.length === 0) return plain;
  return {
    types: [...new Set([...plain.types, ...need.types])],
    services: [...new Set([...need.services, ...features.flatMap(providersOf)])],
  };
}

export const isWords = (given: unknown): given is readonly string[] =>
  Array.isArray(given) && given.every((word) => typeof word === 'string');

const providersOf = (flag: string): readonly string[] => FEATURES.get(flag)?.providers ?? NONE;
