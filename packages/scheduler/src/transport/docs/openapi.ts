/** The OpenAPI document, built from the protocol's endpoint table and the error table. Pure. */
import {
  ErrorReply,
  HTTP_ENDPOINTS,
  HTTP_TAGS,
  type HttpEndpoint,
  type JsonSchema,
  WebhookEvent,
} from '@lingua/protocol';
import { type ErrorCode, errorEntry } from '../../domain/errors.ts';
import { createNamedSchemas, type NamedSchemas } from './name-schemas.ts';

export interface OpenApi {
  readonly openapi: string;
  readonly paths: Readonly<Record<string, Readonly<Record<string, JsonSchema>>>>;
  readonly [part: string]: unknown;
}

export function buildOpenApi(version: string): OpenApi {
  const schemas = createNamedSchemas();
  const paths: Record<string, Record<string, JsonSchema>> = {};
  for (const endpoint of HTTP_ENDPOINTS) {
    const path = endpoint.path.replace(/:(\w+)/g, '{$1}');
    paths[path] = { ...paths[path], [endpoint.method.toLowerCase()]: describeEndpoint(endpoint, schemas) };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Lingua Scheduler',
      version,
      description:
        'Schedules speech translation on GPU nodes. Fields with the $comment "extension" are optional additions. The WebSocket messages are in asyncapi.json.',
      license: { name: 'UNLICENSED', url: 'https://spdx.org/licenses/' },
    },
    servers: [{ url: '/', description: 'The instance that serves this document' }],
    tags: HTTP_TAGS,
    paths,
    webhooks: { event: { post: describeWebhook(schemas) } },
    components: {
      schemas: schemas.all(),
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', description: 'A token of server.tokens' },
      },
    },
  };
}

/** What receivers of webhooks get. */
const describeWebhook = (schemas: NamedSchemas): JsonSchema => ({
  operationId: 'receiveEvent',
  summary: 'An event for a receiver in webhooks.receivers; signed, see webhooks.md',
  requestBody: {
    required: true,
    content: { 'application/json': { schema: schemas.refer(WebhookEvent) } },
  },
  responses: { '2XX': { description: 'The receiver has the event; after any other answer it comes again' } },
});

function describeEndpoint(endpoint: HttpEndpoint, schemas: NamedSchemas): JsonSchema {
  const { operationId, tag, summary, roles, params, query, body, example } = endpoint;
  const parameters = [
    ...describeParameters('path', params, example?.params, schemas),
    ...describeParameters('query', query, example?.query, schemas),
    ...(endpoint.hasIdempotencyKey === true ? [IDEMPOTENCY_KEY] : []),
  ];
  return {
    operationId,
    tags: [tag],
    summary,
    description: describeRoles(roles),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body === undefined ? {} : { requestBody: describeBody(endpoint, body, schemas) }),
    responses: describeReplies(endpoint, schemas),
    security: roles === 'none' ? [] : [{ bearer: [] }],
  };
}

function describeRoles(roles: HttpEndpoint['roles']): string {
  if (roles === 'none') return 'It needs no token.';
  if (roles === 'job_token') return 'It needs the token of the audio_ref in the job_assign.';
  return `Where tokens are configured, it needs one of the role ${roles.join(' or ')}.`;
}

function describeParameters(
  place: 'path' | 'query',
  schema: object | undefined,
  examples: object | undefined,
  schemas: NamedSchemas,
): JsonSchema[] {
  if (schema === undefined) return [];
  const { properties, required = [] } = schema as { properties: Record<string, object>; required?: string[] };
  return Object.entries(properties).map(([name, field]) => {
    const { description, ...type } = schemas.refer(field);
    const example = (examples as Record<string, unknown> | undefined)?.[name];
    return {
      name,
      in: place,
      required: place === 'path' || required.includes(name),
      description,
      schema: type,
      ...(example === undefined ? {} : { example }),
    };
  });
}

const IDEMPOTENCY_KEY = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description: 'The same as request_id: makes a repeat harmless',
  schema: { type: 'string' },
};

function describeBody(
  { audioTypes = [], example }: HttpEndpoint,
  body: object,
  schemas: NamedSchemas,
): JsonSchema {
  const schema = schemas.refer(body);
  const isRequired = ((body as { required?: string[] }).required ?? []).length > 0 || 'anyOf' in body;
  const bytes = { schema: { type: 'string', format: 'binary' } };
  return {
    required: isRequired,
    content: {
      'application/json': { schema, ...(example?.body === undefined ? {} : { example: example.body }) },
      ...Object.fromEntries(audioTypes.map((type) => [type, bytes])),
    },
  };
}

function describeReplies(endpoint: HttpEndpoint, schemas: NamedSchemas): JsonSchema {
  const replies: JsonSchema = { 200: describeSuccess(endpoint, schemas) };
  for (const [status, codes] of codesByStatus(endpoint)) {
    replies[status] = {
      description: codes.join(', '),
      content: { 'application/json': { schema: refusalOf(codes, schemas) } },
    };
  }
  for (const [status, { description, reply }] of Object.entries(endpoint.otherReplies ?? {})) {
    const other = reply === undefined ? undefined : schemas.refer(reply);
    const refusal = (replies[status] as { content: Content } | undefined)?.content['application/json'].schema;
    const schema = refusal === undefined || other === undefined ? other : { anyOf: [other, refusal] };
    replies[status] = {
      description: [description, (replies[status] as JsonSchema | undefined)?.description]
        .filter((part) => part !== undefined)
        .join('\n\n'),
      ...(schema === undefined ? {} : { content: { 'application/json': { schema } } }),
    };
  }
  return replies;
}

type Content = { 'application/json': { schema: JsonSchema } };

function describeSuccess({ reply, mediaType, isStream }: HttpEndpoint, schemas: NamedSchemas): JsonSchema {
  if (reply === undefined) {
    const type = mediaType ?? 'application/octet-stream';
    const isText = type.startsWith('text/');
    const schema = isText ? { type: 'string' } : { type: 'string', format: 'binary' };
    return { description: isText ? 'Text' : 'Bytes', content: { [type]: { schema } } };
  }
  const { title, description } = reply as { title?: string; description?: string };
  const schema = schemas.refer(reply);
  if (isStream !== true)
    return { description: description ?? '', content: { 'application/json': { schema } } };
  return {
    description: `Server-sent events; the data of each is a ${title}`,
    content: { 'text/event-stream': { schema: { type: 'string' } } },
  };
}

/** The body of a refusal with the codes that this status can have here. */
const refusalOf = (codes: readonly ErrorCode[], schemas: NamedSchemas): JsonSchema => ({
  allOf: [schemas.refer(ErrorReply), { type: 'object', properties: { error: { enum: codes } } }],
});

/** Every code with which the endpoint refuses, by status. */
export function codesByStatus(endpoint: HttpEndpoint): Map<number, ErrorCode[]> {
  const { roles, params, query, body, errors } = endpoint;
  const isGuarded = roles !== 'none';
  const codes = new Set<ErrorCode>([
    ...(params !== undefined || query !== undefined || body !== undefined
      ? (['INVALID_MESSAGE'] as const)
      : []),
    ...(body !== undefined ? (['PAYLOAD_TOO_LARGE'] as const) : []),
    ...(isGuarded ? (['UNAUTHORIZED', 'FORBIDDEN', 'RATE_LIMITED'] as const) : []),
    ...errors,
    'INTERNAL_ERROR',
  ]);
  const byStatus = new Map<number, ErrorCode[]>();
  const add = (status: number, code: ErrorCode) =>
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  for (const code of codes) add(errorEntry(code).status, code);
  // A body of another type than JSON.
  if (body !== undefined) add(415, 'INVALID_MESSAGE');
  return new Map([...byStatus].sort(([a], [b]) => a - b));
}
