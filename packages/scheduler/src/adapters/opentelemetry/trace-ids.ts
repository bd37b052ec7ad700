/** Cold path: ids of traces and spans. Pure, so every instance and node computes the same ids (docs/operations.md describes how). */
import { hash } from 'node:crypto';

const TRACE_ID = /^(?!0+$)[0-9a-f]{32}$/i;
const TRACE_DIGITS = 32;
const SPAN_DIGITS = 16;
/** 52 bits, which a number holds exactly. */
const SAMPLE_DIGITS = 13;

/** On the wire a trace id is any text. A W3C trace id is used unchanged, any other text is hashed. */
export const traceIdOf = (given: string): string =>
  TRACE_ID.test(given) ? given.toLowerCase() : hash('sha256', given, 'hex').slice(0, TRACE_DIGITS);

/** Names contain no space, so two different lists of names never join to the same text. */
export const spanIdOf = (...names: readonly (string | number)[]): string =>
  hash('sha256', names.join(' '), 'hex').slice(0, SPAN_DIGITS);

/** Depends on the trace id alone, so all instances send a trace or none does. */
export const isSampled = (traceId: string, ratio: number): boolean =>
  Number.parseInt(traceId.slice(-SAMPLE_DIGITS), 16) / 16 ** SAMPLE_DIGITS >= 1 - ratio;
