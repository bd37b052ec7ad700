/** The published JSON Schema of every message and HTTP body, by name. */
import type { TSchema } from 'typebox';
import { HTTP_ENDPOINTS } from './http/endpoints.ts';
import { ErrorReply } from './http/error-reply.ts';
import { LiveDelta } from './http/live.ts';
import { ModelNotAvailableDetails, NodeOverloadedDetails } from './node/job-reports.ts';
import { NODE_TO_SCHEDULER, SCHEDULER_TO_NODE } from './node/messages.ts';
import { type JsonSchema, publishSchema } from './publish-schema.ts';
import { SCHEDULER_TO_SESSION, SESSION_TO_SCHEDULER } from './session/messages.ts';
import type { MessageSchema } from './shared/message.ts';

/** One direction of one socket. */
export type Direction = { name: string; heading: string; messages: readonly MessageSchema[] };

export const DIRECTIONS: readonly Direction[] = [
  { name: 'session_to_scheduler', heading: 'Session → scheduler', messages: SESSION_TO_SCHEDULER },
  { name: 'scheduler_to_session', heading: 'Scheduler → session', messages: SCHEDULER_TO_SESSION },
  { name: 'node_to_scheduler', heading: 'Node → scheduler', messages: NODE_TO_SCHEDULER },
  { name: 'scheduler_to_node', heading: 'Scheduler → node', messages: SCHEDULER_TO_NODE },
];

/** Values that are not a message or body themselves, but part of one. */
export const DETAILS: readonly TSchema[] = [ModelNotAvailableDetails, NodeOverloadedDetails, LiveDelta];

/** Messages are named `direction/type`, HTTP bodies by their title. */
export function jsonSchemas(): Record<string, JsonSchema> {
  const schemas = new Map<string, JsonSchema>();
  for (const { name, messages } of DIRECTIONS) {
    for (const message of messages)
      schemas.set(`${name}/${message.properties.type.const}`, publishSchema(message));
  }
  for (const { params, query, body, reply, otherReplies = {} } of HTTP_ENDPOINTS) {
    const others = Object.values(otherReplies).map((other) => other.reply);
    for (const schema of [params, query, body, reply, ...others]) {
      if (schema !== undefined) schemas.set(titleOf(schema), publishSchema(schema));
    }
  }
  for (const schema of [ErrorReply, ...DETAILS]) schemas.set(titleOf(schema), publishSchema(schema));
  return Object.fromEntries(schemas);
}

const titleOf = (schema: TSchema): string => (schema as { title: string }).title;
