/** Cold path: names of traces and spans. Pure, and the same on every instance and node: docs/operations.md tells others how. */
import { hash } from 'node:crypto';

const TRACE_ID = /^(?!0+$)[0-9a-f]{32}$/i;
const TRACE_DIGITS = 32;
const SPAN_DIGITS = 16;
/** 52 bits, which a number holds exactly. */
const CHANCE_DIGITS = 13;

/** On the wire a trace id is any text; one that is a W3C trace id is taken as it is. */
export const traceIdOf = (given: string): string =>
  TRACE_ID.test(given) ? given.toLowerCase() : hash('sha256', given, 'hex').slice(0, TRACE_DIGITS);

/** No name contains a space, so that no two lists of names are spelled alike. */
export const spanIdOf = (...names: readonly (string | number)[]): string =>
  hash('sha256', names.join(' '), 'hex').slice(0, SPAN_DIGITS);

/** Decided by the trace's name alone: all of a trace is sent, or nothing, whoever sends it. */
export const isSampled = (traceId: string, ratio: number): boolean =>
  Number.parseInt(traceId.slice(-CHANCE_DIGITS), 16) / 16 ** CHANCE_DIGITS >= 1 - ratio;
