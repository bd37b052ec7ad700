/** Hot path: the answer to a dispatch, as text in ASCII: its few fields put together by hand. */
import type { DispatchReply } from '@lingua/protocol';
import { spellWhole } from '../server/spell-whole.ts';

/** A repeat may find its job still waiting: then there is no node to name yet. */
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
  if (index !== undefined) text += `,"utterance_index":${spellWhole(index)}`;
  if (answer.state !== undefined) text += `,"state":"${answer.state}"`;
  return `${text}}`;
}

/** All ids are such words: those from outside are checked when they come in. */
const PLAIN = /^[\w.:-]*$/;

const quote = (id: string): string =>
  PLAIN.test(id) ? `"${id}"` : JSON.stringify(id).replace(BEYOND_ASCII, inAscii);

const BEYOND_ASCII = /[^\0-\x7f]/g;
const inAscii = (char: string): string => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`;
