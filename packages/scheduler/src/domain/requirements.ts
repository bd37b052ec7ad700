/** Vocabulary: what a job requires of a node, from its pipeline, its features and its named services. Pure. */
import { expandFeatures, FEATURES } from './features.ts';
import type { Pipeline } from './job-spec.ts';
import type { Need } from './need.ts';
import { SERVICE_TYPES } from './profile.ts';

/** Service ids that the configuration names as the core of a stage; absent or empty: any service of the type. */
export interface CoreServices {
  readonly asr?: string;
  readonly nmt?: string;
  readonly tts?: string;
}

export interface RequirementInput {
  readonly pipeline: Pick<Pipeline, 'use_asr' | 'use_nmt' | 'use_tts' | 'use_tone'>;
  readonly features?: Readonly<Record<string, boolean>> | undefined;
  /** Service types and ids, in any order. */
  readonly services?: readonly string[] | undefined;
}

/** The part of a need about services. */
export type Requirements = Pick<Need, 'usesAsr' | 'usesNmt' | 'usesTts' | 'types' | 'services' | 'features'>;

export type Require = (input: RequirementInput) => Requirements;

/** Names of service types; any other name is a service id. */
const TYPE_NAMES: ReadonlySet<string> = new Set([...SERVICE_TYPES, 'phonetic', 'punctuation']);

export const isTypeName = (name: string): boolean => TYPE_NAMES.has(name.toLowerCase());

const FLAGS = [...FEATURES.keys()];
const STAGES = ['asr', 'nmt', 'tts'] as const;

/**
 * For one set of core services. The requirements of each combination of flags (about a thousand) are computed once: most jobs use one of a
 * few.
 */
export function createRequirements(core: CoreServices): Require {
  const known = new Map<number, Requirements>();

  return function require({ pipeline, features, services }) {
    if (services !== undefined && services.length > 0) {
      return requirementsOf(core, pipeline, flagsOf(features), services);
    }
    const combination = combinationOf(pipeline, features);
    const before = known.get(combination);
    if (before !== undefined) return before;
    const requirements = requirementsOf(core, pipeline, flagsOf(features), []);
    known.set(combination, requirements);
    return requirements;
  };
}

function combinationOf(
  pipeline: RequirementInput['pipeline'],
  features: RequirementInput['features'],
): number {
  let combination =
    (pipeline.use_asr ? 1 : 0) |
    (pipeline.use_nmt ? 2 : 0) |
    (pipeline.use_tts ? 4 : 0) |
    (pipeline.use_tone ? 8 : 0);
  if (features === undefined) return combination;
  for (let at = 0; at < FLAGS.length; at++) {
    if (features[FLAGS[at] as string] === true) combination |= 16 << at;
  }
  return combination;
}

const flagsOf = (features: RequirementInput['features']): string[] =>
  features === undefined ? [] : FLAGS.filter((flag) => features[flag] === true);

function requirementsOf(
  core: CoreServices,
  pipeline: RequirementInput['pipeline'],
  flags: readonly string[],
  named: readonly string[],
): Requirements {
  const uses = { asr: pipeline.use_asr, nmt: pipeline.use_nmt, tts: pipeline.use_tts };
  const expanded = expandFeatures(flags);
  const types = new Set(expanded.types);
  if (pipeline.use_tone) types.add('tone');
  const services = new Set<string>();
  for (const stage of STAGES) {
    const id = core[stage];
    if (id !== undefined && id !== '' && (uses[stage] || types.has(stage))) services.add(id);
  }
  for (const name of named) {
    if (isTypeName(name)) types.add(name.toLowerCase());
    else services.add(name);
  }
  // Already required by the pipeline: equal needs must look the same.
  for (const stage of STAGES) if (uses[stage]) types.delete(stage);
  types.delete('semantic');
  return {
    usesAsr: uses.asr,
    usesNmt: uses.nmt,
    usesTts: uses.tts,
    types: [...types].sort(),
    services: [...services].sort(),
    ...(expanded.features.length > 0 && { features: expanded.features }),
  };
}
