/** Hot path: a node's profile as the set of facts that are true of it. Pure. */
import { FEATURES } from '../../domain/features.ts';
import { ANY, type Language, type LanguageSet } from '../../domain/language.ts';
import { type NmtAbility, type NodeProfile, translates } from '../../domain/profile.ts';
import { factKey, type Stage } from './fact-key.ts';

export type ProfileFacts = ReadonlySet<string>;

export function factsOfProfile(profile: NodeProfile): ProfileFacts {
  const facts = new Set<string>();
  addStage(facts, 'asr', profile.asr);
  addStage(facts, 'semantic', profile.semantic);
  addStage(facts, 'tts', profile.tts);
  addNmt(facts, profile.nmt);
  addTypes(facts, profile.installedTypes, factKey.hasType, factKey.hasAnyType);
  addTypes(facts, profile.readyTypes, factKey.readyType, factKey.readyAnyType);
  for (const service of profile.installedServices) facts.add(factKey.hasService(service));
  for (const service of profile.readyServices) facts.add(factKey.readyService(service));
  // No job can require other features, however many a node declares.
  for (const flag of profile.features) if (FEATURES.has(flag)) facts.add(factKey.feature(flag));
  for (const extension of profile.supports) facts.add(factKey.supports(extension));
  if (profile.privateTo !== undefined) {
    facts.add(factKey.private);
    facts.add(factKey.privateTo(profile.privateTo));
  }
  if (profile.hasGpu) facts.add(factKey.gpu);
  if (profile.isLegacy) facts.add(factKey.legacy);
  return facts;
}

/** Profiles are shared and compared by identity, so each one is read once. */
export function createProfileFacts(): (profile: NodeProfile) => ProfileFacts {
  const known = new WeakMap<NodeProfile, ProfileFacts>();
  return (profile) => {
    const facts = known.get(profile) ?? factsOfProfile(profile);
    known.set(profile, facts);
    return facts;
  };
}

function addStage(facts: Set<string>, stage: Stage, languages: LanguageSet): void {
  if (languages === ANY) facts.add(factKey.supportsAnyLanguage(stage));
  else for (const language of languages) facts.add(factKey.supportsLanguage(stage, language));
}

function addTypes(
  facts: Set<string>,
  types: typeof ANY | readonly string[],
  key: (type: string) => string,
  anyKey: string,
): void {
  if (types === ANY) facts.add(anyKey);
  else for (const type of types) facts.add(key(type));
}

function addNmt(facts: Set<string>, nmt: NmtAbility): void {
  if (nmt.sources === ANY) facts.add(factKey.nmtFromAny);
  else for (const source of nmt.sources) facts.add(factKey.nmtFrom(source));
  if (nmt.targets === ANY) facts.add(factKey.nmtToAny);
  else for (const target of nmt.targets) facts.add(factKey.nmtTo(target));
  for (const { source, target } of nmt.blocked) facts.add(factKey.nmtBlocked(source, target));
  for (const { source, target } of nmt.pairs) facts.add(factKey.nmtPair(source, target));
  addInto(facts, nmt);
}

/** Targets that can be reached from at least one source, for jobs with an unknown source. */
function addInto(facts: Set<string>, nmt: NmtAbility): void {
  for (const { target } of nmt.pairs) facts.add(factKey.nmtInto(target));
  if (nmt.targets !== ANY) {
    for (const target of nmt.targets) if (isReached(nmt, target)) facts.add(factKey.nmtInto(target));
    return;
  }
  if (nmt.sources !== ANY && nmt.sources.length === 0) return;
  facts.add(factKey.nmtIntoAny);
  if (nmt.sources === ANY) return;
  // Only a target that is itself a source, or is in `blocked`, can have no source left.
  for (const target of [...nmt.sources, ...nmt.blocked.map((pair) => pair.target)]) {
    if (!isReached(nmt, target)) facts.add(factKey.nmtNotInto(target));
  }
}

/** If every language is a source, a finite list of blocked pairs cannot exclude all of them. */
const isReached = (nmt: NmtAbility, target: Language): boolean =>
  nmt.sources === ANY || nmt.sources.some((source) => translates(nmt, source, target));
