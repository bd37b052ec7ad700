/**
 * Hot path: parses the text of a WebSocket frame to a message of one direction, or returns its first problem. Never
 * throws.
 */
import type { Static } from 'typebox';
import { nearest } from './nearest.ts';
import { NODE_TO_SCHEDULER, SCHEDULER_TO_NODE } from './node/messages.ts';
import { parseJson } from './parse-json.ts';
import { kindOf, type Problem, problem } from './problem.ts';
import { SCHEDULER_TO_SESSION, SESSION_TO_SCHEDULER } from './session/messages.ts';
import type { MessageSchema } from './shared/message.ts';
import { type Validate, validator } from './validator.ts';

/**
 * `type` is set only if the protocol has it, so it is safe as a metric label. `fields` is then the whole message,
 * unchecked: the answer can name what it is about.
 */
export type ParsedMessage<Message> =
  | { kind: 'message'; message: Message }
  | { kind: 'invalid'; problem: Problem; type?: string; fields?: Readonly<Record<string, unknown>> };

export type ParseMessage<Message> = (text: string) => ParsedMessage<Message>;

/** Other directions or sockets that know a type, so that the error can name the right one. */
type OtherDirections = readonly (readonly [messages: readonly MessageSchema[], advice: string])[];

function parser<const Schemas extends readonly MessageSchema[]>(
  schemas: Schemas,
  otherDirections: OtherDirections = [],
): ParseMessage<Static<Schemas[number]>> {
  type Message = Static<Schemas[number]>;
  // A Map, because a lookup in a plain object would find "constructor" and other inherited names.
  const byType = new Map<string, Validate<unknown>>();
  for (const schema of schemas) byType.set(typeOf(schema), validator(schema));

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
    if (validate === undefined) {
      return { kind: 'invalid', problem: unknownType(type, [...byType.keys()], otherDirections) };
    }
    const validated = validate(value);
    return validated.ok
      ? { kind: 'message', message: validated.value as Message }
      : { kind: 'invalid', problem: validated.problem, type, fields: value as Record<string, unknown> };
  };
}

function unknownType(type: string, known: readonly string[], otherDirections: OtherDirections): Problem {
  const place = otherDirections.find(([messages]) => messages.some((schema) => typeOf(schema) === type));
  if (place !== undefined) return problem('/type', `"type" ${shown(type)} ${place[1]}`);
  const near = nearest(type, known);
  const advice =
    near === undefined ? 'docs/protocol.md lists those that are' : `the nearest known one is "${near}"`;
  return problem('/type', `"type" ${shown(type)} is unknown; ${advice}`);
}

const typeOf = (schema: MessageSchema): string => schema.properties.type.const;

/** Text that does not look like a name may be anything, speech included, and must not reach logs. */
const shown = (type: string): string =>
  /^\w{1,64}$/.test(type) ? JSON.stringify(type) : `(${type.length} characters)`;

const OURS = 'is a message that the scheduler sends, not one that it receives';

/** Messages that the scheduler receives on /ws/node. */
export const parseNodeMessage = parser(NODE_TO_SCHEDULER, [
  [SESSION_TO_SCHEDULER, 'is a message of sessions: it belongs on /ws/session, this is /ws/node'],
  [SCHEDULER_TO_NODE, OURS],
]);
/** Messages that the scheduler receives on /ws/session. */
export const parseSessionMessage = parser(SESSION_TO_SCHEDULER, [
  [NODE_TO_SCHEDULER, 'is a message of nodes: it belongs on /ws/node, this is /ws/session'],
  [SCHEDULER_TO_SESSION, OURS],
]);
/** Messages that a node receives. */
export const parseSchedulerToNode = parser(SCHEDULER_TO_NODE);
/** Messages that a session client receives. */
export const parseSchedulerToSession = parser(SCHEDULER_TO_SESSION);
