/** Hot path: text of a WebSocket frame to a message of one direction, or what is wrong with it. Never throws. */
import type { Static } from 'typebox';
import { nearest } from './nearest.ts';
import { NODE_TO_SCHEDULER, SCHEDULER_TO_NODE } from './node/messages.ts';
import { parseJson } from './parse-json.ts';
import { kindOf, type Problem, problem } from './problem.ts';
import { SCHEDULER_TO_SESSION, SESSION_TO_SCHEDULER } from './session/messages.ts';
import type { MessageSchema } from './shared/message.ts';
import { type Validate, validator } from './validator.ts';

/** `type` is given only if it is one of the protocol's, so it is safe as a metric label. */
export type ParsedMessage<Message> =
  | { kind: 'message'; message: Message }
  | { kind: 'invalid'; problem: Problem; type?: string };

export type ParseMessage<Message> = (text: string) => ParsedMessage<Message>;

function parser<const Schemas extends readonly MessageSchema[]>(
  schemas: Schemas,
): ParseMessage<Static<Schemas[number]>> {
  type Message = Static<Schemas[number]>;
  // A Map, because a lookup in a plain object would find "constructor" and its kin.
  const byType = new Map<string, Validate<unknown>>();
  for (const schema of schemas) byType.set(schema.properties.type.const, validator(schema));

  return (text) => {
    const parsed = parseJson(text);
    if (!parsed.ok) return { kind: 'invalid', problem: parsed.problem };
    const { value } = parsed;
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      return { kind: 'invalid', problem: problem('', `a message must be an object, not ${kindOf(value)}`) };
    }
    const type = (value as { type?: unknown }).type;
    if (typeof type !== 'string') {
      const message =
        type === undefined ? '"type" is missing' : `"type" must be a string, not ${kindOf(type)}`;
      return { kind: 'invalid', problem: problem('/type', message) };
    }
    const validate = byType.get(type);
    if (validate === undefined) return { kind: 'invalid', problem: unknownType(type, byType.keys()) };
    const validated = validate(value);
    return validated.ok
      ? { kind: 'message', message: validated.value as Message }
      : { kind: 'invalid', problem: validated.problem, type };
  };
}

const unknownType = (type: string, known: Iterable<string>): Problem =>
  problem('/type', `"type" ${shown(type)} is unknown; the nearest known one is "${nearest(type, known)}"`);

/** What does not look like a name may be anything, speech included, and does not belong in logs. */
const shown = (type: string): string =>
  /^\w{1,64}$/.test(type) ? JSON.stringify(type) : `(${type.length} characters)`;

/** What the scheduler receives on /ws/node. */
export const parseNodeMessage = parser(NODE_TO_SCHEDULER);
/** What the scheduler receives on /ws/session. */
export const parseSessionMessage = parser(SESSION_TO_SCHEDULER);
/** What a node receives. */
export const parseSchedulerToNode = parser(SCHEDULER_TO_NODE);
/** What a session client receives. */
export const parseSchedulerToSession = parser(SCHEDULER_TO_SESSION);
