/** A dead letter as operators see it: in a list never what was said, and by itself without its audio. Pure. */
import type { DeadLetterSummary, DeadLetterView } from '@lingua/protocol';
import { headingOf } from '../../../cluster/messaging/message-heading.ts';
import { type MessageName, printMessageName } from '../../../cluster/messaging/message-name.ts';
import type { DeadLetter, WholeDeadLetter } from '../../../ports/dead-letters.ts';
import { given } from '../../wire/given.ts';

export function summarizeDeadLetter(letter: DeadLetter & MessageName, now: number): DeadLetterSummary {
  const { kind, from, jobId, nodeId } = headingOf(letter.head);
  return given({
    id: printMessageName(letter),
    instance_id: letter.instanceId,
    kind,
    from,
    job_id: jobId,
    node_id: nodeId,
    bytes: letter.bytes,
    deliveries: letter.deliveries,
    // Nothing else makes a letter dead.
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

/** Letters say their lane first, then the rest as JSON; what is neither may be anything. */
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

/** Audio, and what opens audio. */
const HIDDEN_NAME = /^((tts_?)?audio(_?(data|base64|chunk))?|token)$/i;
/** So long and without a space between is no text that somebody said: it is audio by another name. */
const UNBROKEN = /^[A-Za-z0-9+/_=-]{512,}$/;
const DEEPEST = 32;

function withoutAudio(value: unknown, name: string, depth: number): unknown {
  if (typeof value === 'string')
    return HIDDEN_NAME.test(name) || UNBROKEN.test(value) ? lengthOf(value) : value;
  if (typeof value !== 'object' || value === null) return value;
  if (depth >= DEEPEST) return '[nested deeper than is shown]';
  if (Array.isArray(value)) return value.map((item) => withoutAudio(item, name, depth + 1));
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, withoutAudio(item, key, depth + 1)]),
  );
}

const lengthOf = (text: string): string => `[${text.length} characters]`;
