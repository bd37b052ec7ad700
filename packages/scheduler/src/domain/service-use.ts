/** Vocabulary: which services of a node a job uses, as far as its need says. Equal for most jobs, and then one shared object. */
import { FEATURES } from './features.ts';
import type { Need } from './need.ts';

export interface ServiceUse {
  /** Any ready service of the type may do it. */
  readonly types: readonly string[];
  /** By name, those that provide a wanted feature included. */
  readonly services: readonly string[];
}

type Wants = Pick<Need, 'usesAsr' | 'usesNmt' | 'usesTts' | 'types' | 'services' | 'features'>;

const NONE: readonly string[] = [];

export const NO_USE: ServiceUse = { types: NONE, services: NONE };

/** Semantic repair is required whatever the job asks for. */
const plainUse = (flags: number): ServiceUse => ({
  types: ['semantic', ...STAGES.filter((_, at) => (flags & (1 << at)) !== 0)],
  services: NONE,
});

const STAGES = ['asr', 'nmt', 'tts'] as const;
/** Of jobs that ask for stages only, by which: told of every attempt, so nothing is made for it. */
const PLAIN_USES: readonly ServiceUse[] = Array.from({ length: 8 }, (_, flags) => plainUse(flags));

export function useOf(need: Wants): ServiceUse {
  const flags = (need.usesAsr ? 1 : 0) | (need.usesNmt ? 2 : 0) | (need.usesTts ? 4 : 0);
  const plain = PLAIN_USES[flags] as ServiceUse;
  const features = need.features ?? NONE;
  if (need.types.length === 0 && need.services.length === 0 && features.length === 0) return plain;
  return {
    types: [...new Set([...plain.types, ...need.types])],
    services: [...new Set([...need.services, ...features.flatMap(providersOf)])],
  };
}

/** What an instance of another version may have said. Undefined: not that. */
export function readUse(given: unknown): ServiceUse | undefined {
  const { types, services } = (given ?? {}) as Readonly<Record<string, unknown>>;
  return isWords(types) && isWords(services) ? { types, services } : undefined;
}

export const isWords = (given: unknown): given is readonly string[] =>
  Array.isArray(given) && given.every((word) => typeof word === 'string');

const providersOf = (flag: string): readonly string[] => FEATURES.get(flag)?.providers ?? NONE;
