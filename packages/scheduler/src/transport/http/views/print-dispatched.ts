/** Hot path: prints the reply to a dispatch as ASCII text, field by field. */
import type { DispatchReply } from '@lingua/protocol';

/** A repeat may find its job waiting without a node. */
export type Dispatched = {
  readonly [Field in keyof DispatchReply]: Field extends 'job_id'
    ? DispatchReply[Field]
    : DispatchReply[Field] | undefined;
};

export function printDispatched(answer: Dispatched): string {
  const { node_id: nodeId, attempt_id: attempt, request_id: requestId, utterance_index: index } = answer;
  let text = `{"job_id":${quote(answer.job_id)}`;
  if (nodeId !== undefined) text += `,"node_id":${quote(nodeId)}`;
  if (attempt !== undefined) text += `,"attempt_id":${attempt}`;
  if (requestId !== undefined) text += `,"request_id":${quote(requestId)}`;
  if (index !== undefined) text += `,"utterance_index":${printInteger(index)}`;
  if (answer.state !== undefined) text += `,"state":"${answer.state}"`;
  if (answer.warnings !== undefined) text += `,"warnings":[${answer.warnings.map(quote).join()}]`;
  if (answer.quota !== undefined) text += `,"quota":${JSON.stringify(answer.quota)}`;
  return `${text}}`;
}

/** All ids match: outside ids are validated when they are received. */
const PLAIN = /^[\w.:-]*$/;

const quote = (id: string): string =>
  PLAIN.test(id) ? `"${id}"` : JSON.stringify(id).replace(BEYOND_ASCII, inAscii);

const BEYOND_ASCII = /[^\0-\x7f]/g;
const inAscii = (char: string): string => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`;

const GROUP = 1_000;
const GROUPS: readonly string[] = Array.from({ length: GROUP }, (_, n) => String(n).padStart(3, '0'));
const LOW = GROUP ** 3;

/**
 * From 0 to 2^53 - 1. V8 caches the text of every number beyond 31 bits in old space, which is expensive for numbers
 * that are printed once.
 */
export function printInteger(number: number): string {
  if (number < LOW) return `${number}`;
  const high = Math.floor(number / LOW);
  const low = number - high * LOW;
  const last = low % GROUP;
  const middle = ((low - last) / GROUP) % GROUP;
  return `${high}${GROUPS[Math.floor(low / (GROUP * GROUP))]}${GROUPS[middle]}${GROUPS[last]}`;
}
