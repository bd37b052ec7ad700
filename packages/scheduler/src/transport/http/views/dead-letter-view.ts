/** Prints a dead letter for operators: in a list without its body, alone without its audio. Pure. */
import type { DeadLetterSummary, DeadLetterView } from '@lingua/protocol';
import { headingOf } from '../../../cluster/messaging/message-heading.ts';
import { type MessageName, printMessageName } from '../../../cluster/messaging/message-name.ts';
import type { DeadLetter, WholeDeadLetter } from '../../../ports/dead-letters.ts';
import { omitUndefined } from '../../wire/omit-undefined.ts';

export function summarizeDeadLetter(letter: DeadLetter & MessageName, now: number): DeadLetterSummary {
  const { kind, from, jobId, nodeId } = headingOf(letter.head);
  return omitUndefined({
    id: printMessageName(letter),
    instance_id: letter.instanceId,
    kind,
    from,
    job_id: jobId,
    node_id: nodeId,
    bytes: letter.bytes,
    deliveries: letter.deliveries,
    // The only reason there is.
    reason: 'too_many_deliveries' as const,
    died_at_ms: letter.diedAt,
    age_ms: Math.max(0, now - letter.diedAt),
  });
}

export const viewDeadLetter = (
  letter: WholeDeadLetter & MessageName,
  now: number,
  { isRaw }: { readonly isRaw: boolean },
): DeadLetterView => ({ ...summarizeDeadLetter(letter, now), body: readBody(letter.body, isRaw) });

/** A message is its lane, a space and JSON. Any other text is shown by its length only. */
function readBody(body: string, isRaw: boolean): unknown {
  const parsed = parse(body) ?? parse(body.slice(body.indexOf(' ') + 1));
  if (parsed === undefined) return isRaw ? body : lengthOf(body);
  return isRaw ? parsed : withoutAudio(parsed, '', 0);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Fields with audio, or with a token for audio. */
const HIDDEN_NAME = /^((tts_?)?audio(_?(data|base64|chunk))?|token)$/i;
/** Text this long without a space is not speech: it is audio in another field. */
const LONG_TOKEN = /^[A-Za-z0-9+/_=-]{512,}$/;
const MAX_DEPTH = 32;

function withoutAudio(value: unknown, name: string, depth: number): unknown {
  if (typeof value === 'string')
    return HIDDEN_NAME.test(name) || LONG_TOKEN.test(value) ? lengthOf(value) : value;
  if (typeof value !== 'object' || value === null) return value;
  if (depth >= MAX_DEPTH) return '[nested deeper than is shown]';
  if (Array.isArray(value)) return value.map((item) => withoutAudio(item, name, depth + 1));
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, withoutAudio(item, key, depth + 1)]),
  );
}

const lengthOf = (text: string): string => `[${text.length} characters]`;
