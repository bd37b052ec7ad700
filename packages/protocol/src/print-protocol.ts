/** Prints docs/protocol.md from the schemas, so that the page always agrees with the validation. */
import { ERROR_CODES } from './error-codes.ts';
import { HTTP_ENDPOINTS, type HttpEndpoint } from './http/endpoints.ts';
import { ErrorReply } from './http/error-reply.ts';
import { DETAILS, DIRECTIONS } from './json-schemas.ts';
import { MAX_FIELDS, MAX_NESTING, MAX_VALUES } from './parse-json.ts';
import type { JsonSchema } from './publish-schema.ts';

const INTRODUCTION = `# Wire protocol

This page is printed from the schemas in \`packages/protocol\`; do not edit it. The same as JSON Schema:
[protocol.schema.json](protocol.schema.json).

- WebSockets \`/ws/session\` and \`/ws/node\` carry JSON text frames, one object per frame, identified by \`type\`.
- Room messages (\`room_…\`, \`webrtc_…\`) come after \`session_init\` on the same socket. Refusals are a \`room_error\`. In a room the result of an
  utterance goes to its speaker with the recognised text alone; the others get \`room_caption\`, and legacy clients \`translation_result\` without speech.
- When a \`session_init\` or a \`node_register\` is refused, the scheduler sends an \`error\` with the reason and closes the socket.
- On input, null means absent, at any depth. Absent optional fields are omitted on output. Unknown fields are ignored.
- ⊕ marks extensions: optional, and ignored by programs that do not support them.
- Where a type reads "a, b, …", other words are accepted, too; "a or b" allows no others.
- An id is 1 to 128 letters, digits or \`. _ : -\`; a language is a tag such as \`en\` or \`zh-CN\`, in any case.
- Values are nested at most ${MAX_NESTING} levels deep, an object has at most ${MAX_FIELDS} fields, a message at most ${MAX_VALUES}
  values; numbers are finite and within ±(2^53 − 1).`;

/** Longer vocabularies have a section of their own. */
const MAX_WORDS_SHOWN = 12;

export function printProtocol(): string {
  const shared = new Map<string, JsonSchema>();
  const sections = [
    ...DIRECTIONS.flatMap(({ heading, messages }) => [
      `## ${heading}`,
      ...messages.map((message) => printObject(message, `### ${mark(message)}${titleOf(message)}`, shared)),
    ]),
    '## HTTP',
    'A refusal is answered with the status of its code and an [ErrorReply](#errorreply).',
    ...HTTP_ENDPOINTS.map((endpoint) => printEndpoint(endpoint, shared)),
  ];
  for (const schema of [ErrorReply, ...DETAILS]) shared.set(titleOf(schema), schema as JsonSchema);
  const page = [INTRODUCTION, ...sections, '## Shared values', ...printShared(shared), printErrorCodes()];
  return `${page.join('\n\n')}\n`;
}

function printEndpoint(endpoint: HttpEndpoint, shared: Map<string, JsonSchema>): string {
  const { method, path, summary, query, body, reply, mediaType, isStream, otherReplies = {} } = endpoint;
  const parts = [`### ${endpoint.extension ? '⊕ ' : ''}${method} ${path}`, `${summary}.`];
  const uses = [
    ['Query', query],
    ['Body', body],
    [isStream ? 'Data of each server-sent event' : 'Reply', reply],
  ] as const;
  for (const [role, schema] of uses) {
    if (schema !== undefined) parts.push(`${role}: ${typeOf(schema as JsonSchema, shared)}`);
  }
  if (mediaType !== undefined) parts.push(`Reply: bytes (${mediaType})`);
  for (const [status, other] of Object.entries(otherReplies)) {
    const type = other.reply === undefined ? 'no body' : typeOf(other.reply as JsonSchema, shared);
    parts.push(`Reply with status ${status}: ${type}. ${other.description}`);
  }
  if (endpoint.audioTypes !== undefined) {
    parts.push(`The body may also be the audio itself (${endpoint.audioTypes.join(', ')}).`);
  }
  return parts.join('\n\n');
}

/** Printing a shared value may add further ones to the map during the walk; a Map visits those, too. */
function printShared(shared: Map<string, JsonSchema>): string[] {
  const printed = new Map<string, string>();
  for (const [title, schema] of shared) printed.set(title, printObject(schema, `### ${title}`, shared));
  return [...printed].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, section]) => section);
}

function printObject(declared: object, heading: string, shared: Map<string, JsonSchema>): string {
  const schema = declared as JsonSchema;
  const required = new Set(schema.required as string[] | undefined);
  const rows = Object.entries((schema.properties ?? {}) as Record<string, JsonSchema>)
    .filter(([name]) => !(name === 'type' && schema.title === schemaConst(schema)))
    .map(([name, field]) => {
      const needed = required.has(name) ? 'yes' : 'no';
      return `| ${mark(field)}${name} | ${cell(typeOf(field, shared))} | ${needed} | ${cell(String(field.description ?? ''))} |`;
    });
  const table =
    rows.length === 0
      ? ['No fields.']
      : ['| field | type | required | meaning |', '|---|---|---|---|', ...rows];
  return [heading, `${String(schema.description)}.`, table.join('\n')].join('\n\n');
}

const schemaConst = (schema: JsonSchema): unknown =>
  (schema.properties as Record<string, JsonSchema> | undefined)?.type?.const;

function typeOf(schema: JsonSchema, shared: Map<string, JsonSchema>): string {
  if (typeof schema.title === 'string') {
    if (schemaConst(schema) === schema.title) return `[${schema.title}](#${schema.title})`;
    if (!shared.has(schema.title)) shared.set(schema.title, schema);
    return `[${schema.title}](#${schema.title.toLowerCase()})`;
  }
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (Array.isArray(schema.enum)) return schema.enum.join(' or ');
  if (Array.isArray(schema.examples)) {
    return schema.examples.length > MAX_WORDS_SHOWN
      ? '[error code](#error-codes), …'
      : `${schema.examples.join(', ')}, …`;
  }
  if (schema.type === 'array') return `${typeOf(schema.items as JsonSchema, shared)}[]${arrayBounds(schema)}`;
  if (schema.type === 'object') return objectType(schema, shared);
  if (schema.type === 'string') return stringType(schema);
  if (schema.type === 'integer' || schema.type === 'number') return numberType(schema);
  return typeof schema.type === 'string' ? schema.type : 'any';
}

function objectType(schema: JsonSchema, shared: Map<string, JsonSchema>): string {
  if (typeof schema.additionalProperties === 'object') {
    return `map of ${typeOf(schema.additionalProperties as JsonSchema, shared)}`;
  }
  const required = new Set(schema.required as string[] | undefined);
  const fields = Object.entries((schema.properties ?? {}) as Record<string, JsonSchema>).map(
    ([name, field]) => `${mark(field)}${name}${required.has(name) ? '' : '?'}: ${typeOf(field, shared)}`,
  );
  return `{ ${fields.join(', ')} }`;
}

function stringType(schema: JsonSchema): string {
  if (schema.contentEncoding !== undefined) return `string (${schema.contentEncoding})`;
  if (typeof schema.named === 'string') return schema.named;
  if (typeof schema.expects === 'string') return `string (${schema.expects})`;
  return schema.maxLength === undefined ? 'string' : `string (≤ ${schema.maxLength})`;
}

function numberType(schema: JsonSchema): string {
  const { minimum = -Infinity, maximum = Infinity } = schema as { minimum?: number; maximum?: number };
  const hasLeast = minimum > -Number.MAX_SAFE_INTEGER;
  const hasMost = maximum < Number.MAX_SAFE_INTEGER;
  if (hasLeast && hasMost) return `${schema.type} (${minimum} to ${maximum})`;
  if (hasLeast) return `${schema.type} (≥ ${minimum})`;
  return hasMost ? `${schema.type} (≤ ${maximum})` : String(schema.type);
}

const arrayBounds = ({ minItems, maxItems }: JsonSchema): string =>
  minItems !== undefined && minItems === maxItems ? ` of ${maxItems}` : ` (≤ ${maxItems})`;

const printErrorCodes = (): string =>
  ['## Error codes', ERROR_CODES.map((code) => `- ${code}`).join('\n')].join('\n\n');

const mark = (schema: object): string => ('extension' in schema ? '⊕ ' : '');
const titleOf = (schema: object): string => String((schema as JsonSchema).title);
const cell = (text: string): string => text.replaceAll('|', '\\|');
