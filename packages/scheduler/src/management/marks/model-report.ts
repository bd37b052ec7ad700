/** Cold path: reads a node's MODEL_NOT_AVAILABLE error. Nodes may send anything; the result is bounded. Pure. */
import { givenModel, isModelId, isSoundWord, namedModel } from '../../domain/missing-model.ts';

export interface MissingModel {
  readonly serviceId: string;
  readonly version: string;
  readonly reason: ReasonWord;
}

/** Few values, because they are metric labels. `unknown`: the node gave none. */
export const REASON_WORDS = [
  'not_found',
  'downloading',
  'version_mismatch',
  'checksum_mismatch',
  'timeout',
  'oom',
  'load_failed',
  'not_running',
  'unknown',
  'other',
] as const;
export type ReasonWord = (typeof REASON_WORDS)[number];

export type ReadReport =
  | { readonly kind: 'read'; readonly missing: MissingModel }
  | { readonly kind: 'unreadable'; readonly reason: 'missing_service_id' | 'invalid_service_id' };

const MAX_VERSION_CHARS = 64;
const MAX_REASON_CHARS = 256;
export const NO_VERSION = 'unknown';

/** The first match counts: "download timed out" is a time-out. */
const SPELLINGS: readonly (readonly [RegExp, ReasonWord])[] = [
  [/time(d)?[\s_-]?out|deadline/, 'timeout'],
  [/checksum|hash|corrupt|verif(y|ication)[\s_-]?fail|sha256|signature/, 'checksum_mismatch'],
  [/version/, 'version_mismatch'],
  [/\boom\b|out[\s_-]?of[\s_-]?(gpu[\s_-]?|cuda[\s_-]?)?memory|\bv?ram\b|memory/, 'oom'],
  [/download|installing|verifying|updating|pending/, 'downloading'],
  [
    /not[\s_-]?(found|installed|present)|missing|no[\s_-]?such|uninstalled|absent|unknown[\s_-]?model/,
    'not_found',
  ],
  [/not[\s_-]?(running|started|ready)|stopped|crash|process/, 'not_running'],
  [/load|init|start/, 'load_failed'],
];

/** `details` of the error; `model_id` and `version` are the names that legacy nodes use. */
export function readModelReport(details: Readonly<Record<string, unknown>>): ReadReport {
  const serviceId = namedModel(details);
  if (serviceId === undefined) {
    const given = givenModel(details);
    const isAbsent = given === undefined || given === null || given === '';
    return { kind: 'unreadable', reason: isAbsent ? 'missing_service_id' : 'invalid_service_id' };
  }
  const version = versionOf(details.service_version ?? details.version);
  return { kind: 'read', missing: { serviceId, version, reason: reasonWord(details.reason) } };
}

/** Reads a report that another instance has forwarded: an unknown reason becomes `unknown`. */
export function isMissingModel(value: Readonly<Record<keyof MissingModel, unknown>>): value is MissingModel {
  const { serviceId, version, reason } = value;
  return (
    typeof serviceId === 'string' &&
    isModelId(serviceId) &&
    typeof version === 'string' &&
    isSoundWord(version, MAX_VERSION_CHARS) &&
    (REASON_WORDS as readonly unknown[]).includes(reason)
  );
}

export function reasonWord(given: unknown): ReasonWord {
  if (typeof given !== 'string' || given.trim() === '') return 'unknown';
  const text = given.slice(0, MAX_REASON_CHARS).toLowerCase();
  const exact = (REASON_WORDS as readonly string[]).indexOf(text.trim());
  if (exact !== -1) return REASON_WORDS[exact] as ReasonWord;
  return SPELLINGS.find(([pattern]) => pattern.test(text))?.[1] ?? 'other';
}

/** It only distinguishes reports, so a malformed value is dropped. */
function versionOf(given: unknown): string {
  const text = typeof given === 'number' ? String(given) : typeof given === 'string' ? given.trim() : '';
  return isSoundWord(text, MAX_VERSION_CHARS) ? text : NO_VERSION;
}
