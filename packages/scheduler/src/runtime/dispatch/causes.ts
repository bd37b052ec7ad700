/** Failure path: for each reason, what a refusal says about the node, and what the caller can do about it. Pure. */
import { ANY } from '../../domain/language.ts';
import type { Need, Rejection } from '../../domain/need.ts';
import { requiredTypes } from '../select/clauses.ts';

export interface Cause {
  /** Completes "the node is …". */
  is(need: Need): string;
  /** Absent: the hint of the error code. */
  readonly hint?: string;
}

const STATE_HINT = 'Try again shortly; GET /api/v1/nodes shows the state of each node.';

export const CAUSES: Readonly<Record<Rejection, Cause>> = {
  asr_lang_unsupported: { is: (need) => `without speech recognition (asr) of ${sources(need)}` },
  semantic_lang_unsupported: { is: (need) => `without semantic repair of ${sources(need)}` },
  lang_pair_unsupported: { is: (need) => `without translation (nmt) ${arrows(need)}` },
  tts_lang_unsupported: { is: (need) => `without speech synthesis (tts) of ${targets(need)}` },
  src_auto_no_candidate: {
    is: (need) => `not able to take source "auto" for ${arrows(need)} at every stage`,
    hint: 'Name src_lang, or name lang_a and lang_b.',
  },
  service_not_installed: {
    is: (need) => `without one of the services ${listed([...requiredTypes(need), ...need.services])}`,
  },
  feature_unsupported: { is: (need) => `without one of the features ${listed(need.features ?? [])}` },
  audio_ref_unsupported: {
    is: () => 'not able to fetch audio by reference (audio_ref)',
    hint: 'Send the audio itself instead of a reference, or connect a node that supports audio_ref.',
  },
  text_input_unsupported: {
    is: () => 'not able to take text as input (text_input)',
    hint: 'Send audio instead of text, or connect a node that supports text_input.',
  },
  interim_unsupported: {
    is: () => 'not able to work on speech before its end (interim)',
  },
  whole_jobs_only: {
    is: () => 'legacy nodes, which take only whole jobs with audio',
    hint: 'Connect a node that reports the extensions it supports.',
  },
  not_in_public_pool: {
    is: () => 'private to another tenant',
    hint: 'Connect a node with a token of this tenant, or one with accept_public_jobs = true and a token without a tenant.',
  },
  outside_residency: {
    is: () => 'outside the regions that the tenant allows',
    hint: 'Connect a node in one of these regions (scheduler.tenants, residency), or change them.',
  },
  gpu_unavailable: { is: () => 'without a GPU' },
  not_in_pool: {
    is: () => 'in no pool that this job may use',
    hint: 'Connect a node that fits the pool, or change the pools in the configuration.',
  },
  disconnected: { is: () => 'disconnected', hint: STATE_HINT },
  offline: { is: () => 'offline', hint: STATE_HINT },
  status_not_ready: { is: () => 'not ready (registering, degraded or draining)', hint: STATE_HINT },
  stale_heartbeat: { is: () => 'overdue with the heartbeat', hint: STATE_HINT },
  cordoned: { is: () => 'cordoned by an operator', hint: 'Uncordon the node, or connect another one.' },
  ejected: { is: () => 'ejected for failing too often', hint: STATE_HINT },
  model_not_available: {
    is: () => 'without a required model: it is not ready, or was reported as missing',
    hint: 'Try again shortly, or load the model on the node.',
  },
  excluded: { is: () => 'excluded from this job, because it had the job or a later utterance' },
  resource_threshold_exceeded: {
    is: () => 'above its threshold of cpu, gpu or memory',
    hint: STATE_HINT,
  },
  capacity_exceeded: { is: () => 'full' },
  reserve_denied: { is: () => 'full: the slot that seemed free was taken meanwhile' },
};

/** What the caller can do: a misspelt language comes first, because no node will ever have it. */
export const hintOf = (reason: Rejection, need: Need): string | undefined => {
  const odd = LANGUAGE_REASONS.has(reason) ? oddLanguage(need) : undefined;
  return odd === undefined
    ? CAUSES[reason].hint
    : `"${odd}" does not look like a language code: language codes look like en, zh-CN.`;
};

const LANGUAGE_REASONS: ReadonlySet<Rejection> = new Set([
  'asr_lang_unsupported',
  'semantic_lang_unsupported',
  'lang_pair_unsupported',
  'tts_lang_unsupported',
  'src_auto_no_candidate',
]);
/** Two or three letters, then subtags. */
const LANGUAGE_CODE = /^[a-z]{2,3}(-|$)/;

const oddLanguage = ({ directions }: Need): string | undefined =>
  directions
    .flatMap(({ source, target }) => [source, target])
    .find((language) => language !== ANY && !LANGUAGE_CODE.test(language));

/** For messages: semantic(en) + nmt(en->zh). */
export function describeNeed(need: Need): string {
  const parts = need.directions.flatMap(({ source, target }) => [
    ...(need.isPartial && need.usesAsr ? [`asr(${source})`] : []),
    ...(need.skipsSemantic || source === ANY ? [] : [`semantic(${source})`]),
    ...(need.usesNmt ? [`nmt(${source}->${target})`] : []),
    ...(need.usesTts ? [`tts(${target})`] : []),
  ]);
  return [...new Set([...parts, ...need.types, ...need.services, ...(need.features ?? [])])].join(' + ');
}

const listed = (words: readonly string[]): string => [...new Set(words)].join(', ');
const sources = ({ directions }: Need): string => listed(directions.map(({ source }) => source));
const targets = ({ directions }: Need): string => listed(directions.map(({ target }) => target));
const arrows = ({ directions }: Need): string =>
  listed(directions.map(({ source, target }) => `${source}->${target}`));
