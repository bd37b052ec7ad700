/** Cold path: roughly how much memory a node's declaration needs. Pure; an estimate that errs on the large side. */
import { ANY, type LanguageSet } from './language.ts';
import type { NodeProfile } from './profile.ts';

/** A node without any report: its entries in the registry, the ledger, the fleet view and the replica. */
export const NODE_BYTES = 3_000;
/** One language, direction or service of a profile: the word itself, the fact of selection, and its list of nodes. */
const FACT_BYTES = 220;
const WORD_BYTES = 24;
const SLOT_BYTES = 8;
const OBJECT_BYTES = 40;

/** Any plain value. */
export function bytesOf(value: unknown): number {
  if (typeof value === 'string') return WORD_BYTES + value.length;
  if (typeof value !== 'object' || value === null) return SLOT_BYTES;
  if (value instanceof Map) return bytesOf([...value]);
  let bytes = OBJECT_BYTES;
  for (const item of Array.isArray(value) ? value : Object.values(value)) bytes += SLOT_BYTES + bytesOf(item);
  return bytes;
}

/** A profile costs more than its words: selection keeps a fact for each of them. */
export function bytesOfProfile(profile: NodeProfile): number {
  const { nmt } = profile;
  const lists = [profile.asr, profile.semantic, profile.tts, nmt.sources, nmt.targets, nmt.targets];
  const types = [profile.installedTypes, profile.readyTypes];
  const services = [profile.installedServices, profile.readyServices, profile.features];
  let bytes = 0;
  for (const list of [...lists, ...types, ...services]) bytes += bytesOfFacts(list);
  for (const { source, target } of [...nmt.pairs, ...nmt.blocked]) {
    bytes += FACT_BYTES + OBJECT_BYTES + 2 * (source.length + target.length);
  }
  return bytes;
}

function bytesOfFacts(words: LanguageSet): number {
  if (words === ANY) return FACT_BYTES;
  return words.reduce((sum, word) => sum + FACT_BYTES + 2 * word.length, 0);
}
