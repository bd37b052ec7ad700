/** One entry of the HTTP API: what routes, docs/protocol.md, OpenAPI and generated clients need to know of it. */
import type { TSchema } from 'typebox';
import type { ErrorCode } from '../../error-codes.ts';
import type { Role } from '../roles.ts';

export const HTTP_TAGS = [
  { name: 'dispatch', description: 'Submitting utterances' },
  { name: 'jobs', description: 'Following jobs, and reports of nodes about them' },
  { name: 'rooms', description: 'Rooms: several speakers, many languages, many listeners' },
  { name: 'nodes', description: 'HTTP nodes' },
  { name: 'operators', description: 'Watching and controlling the fleet' },
  { name: 'health', description: 'Health and metrics' },
] as const;

export type HttpEndpoint = {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  path: string;
  /** Name of the call in generated clients: a verb and a noun, unique. */
  operationId: string;
  tag: (typeof HTTP_TAGS)[number]['name'];
  /**
   * A token of any of these roles, or of a role that includes one, may call it. `job_token`: the token in the job's
   * audio_ref; `none`: open to every peer. Replies to viewers have no field that is marked as speech.
   */
  roles: readonly Role[] | 'job_token' | 'none';
  summary: string;
  extension: boolean;
  params?: TSchema;
  query?: TSchema;
  body?: TSchema;
  /** Types of bodies that are bytes instead of JSON. */
  audioTypes?: readonly string[];
  /** It reads the header Idempotency-Key. */
  hasIdempotencyKey?: true;
  /** Absent: the reply is not JSON, and `mediaType` names its type. */
  reply?: TSchema;
  mediaType?: string;
  /** The reply is a stream of server-sent events, each with a `reply`. */
  isStream?: true;
  /** Other statuses than 200 that are not refusals, with their replies. */
  otherReplies?: Readonly<Record<number, { description: string; reply?: TSchema }>>;
  /** The codes of its refusals, beside those that follow from role, params, query and body. */
  errors: readonly ErrorCode[];
  /** A call that succeeds as it is; ids of jobs and dead letters, which the scheduler makes, are left out. */
  example?: { params?: object; query?: object; body?: object };
};
