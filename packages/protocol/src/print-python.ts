/** Prints the message types of the Python SDK and the schemas by which it checks messages, from the JSON schemas. */
import { jsonSchemas } from './json-schemas.ts';
import type { JsonSchema } from './publish-schema.ts';
import { SERVICE_TYPES } from './shared/installed-service.ts';

const OF_NODES = /^(node_to_scheduler|scheduler_to_node)\/|^(ModelNotAvailable|NodeOverloaded)Details$/;
/** What a node must check: everything that it receives, and the result, whose fields its author writes. */
const CHECKED = /^scheduler_to_node\/|^node_to_scheduler\/job_result$/;
/** The SDK has an exception of the first name; `Error` alone says too little. */
const RENAMED = new Map([
  ['JobError', 'JobFailure'],
  ['error', 'SchedulerError'],
]);
const KEYWORDS = new Set(
  'and as class def del for from global if import in is lambda not or pass with'.split(' '),
);

const schemasOf = (names: RegExp): [string, JsonSchema][] =>
  Object.entries(jsonSchemas()).filter(([name]) => names.test(name));

/** Of a job_result: what the SDK adds to the output of a job handler. */
const ENVELOPE =
  'type job_id attempt_id node_id session_id utterance_index trace_id success error group_id part_index processing_time_ms node_completed_at_ms';
/** Of a node_register: what is no capability. */
const SET_BY_SDK = 'type node_id max_concurrent_jobs supports running_job_ids';

/** Descriptions are for readers of the documents. */
export function printPythonSchemas(): string {
  const bare = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(bare);
    if (typeof value !== 'object' || value === null) return value;
    const texts = new Set(['description', '$comment', 'examples', 'title']);
    const isText = (key: string, inner: unknown): boolean => texts.has(key) && typeof inner !== 'object';
    return Object.fromEntries(
      Object.entries(value)
        .filter(([key, inner]) => !isText(key, inner) && key !== 'examples')
        .map(([key, inner]) => [key, bare(inner)]),
    );
  };
  return `${JSON.stringify(Object.fromEntries(schemasOf(CHECKED).map(([name, schema]) => [name, bare(schema)])), undefined, 1)}\n`;
}

export function printPythonMessages(): string {
  const classes = new Map<string, string>();
  for (const [, schema] of schemasOf(OF_NODES)) typeOf(schema, '', classes);
  const all = jsonSchemas();
  const { tts_audio: audio, ...output } = without(all['node_to_scheduler/job_result'], ENVELOPE);
  const outputs = { ...output, tts_audio: { ...audio, contentEncoding: 'bytes' } };
  addClass('JobOutput', 'What a job handler returns; the SDK adds ids and times', outputs, classes);
  const capabilities = without(all['node_to_scheduler/node_register'], SET_BY_SDK);
  addClass('Capabilities', 'What a node can do; absent fields get a default', capabilities, classes);
  return `${[HEAD, ...classes.values()].join('\n\n\n')}\n`;
}

const HEAD = `"""The messages between node and scheduler. Printed from packages/protocol by \`npm run docs\`; do not edit."""

from __future__ import annotations

from typing import Any, Dict, List, Literal, Tuple, TypedDict, Union

#: The services that a node may report in its capabilities.
SERVICE_TYPES: Tuple[str, ...] = (${SERVICE_TYPES.map((type) => JSON.stringify(type)).join(', ')})`;

const pascal = (name: string): string =>
  name.replaceAll(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase());

function without(schema: JsonSchema | undefined, names: string): Record<string, JsonSchema> {
  const left = new Set(names.split(' '));
  const fields = Object.entries(schema?.properties as Record<string, JsonSchema>);
  return Object.fromEntries(fields.filter(([name]) => !left.has(name)));
}

function addClass(
  title: string,
  description: string,
  properties: Record<string, JsonSchema>,
  classes: Map<string, string>,
): void {
  objectOf({ type: 'object', title, description, properties }, '', classes);
}

/** The Python type of a value; the classes it needs are added before it. */
function typeOf(schema: JsonSchema, path: string, classes: Map<string, string>): string {
  if (schema.const !== undefined) return `Literal[${JSON.stringify(schema.const)}]`;
  if (Array.isArray(schema.enum))
    return `Literal[${schema.enum.map((word) => JSON.stringify(word)).join(', ')}]`;
  if (schema.type === 'array') return `List[${typeOf(Object(schema.items), path, classes)}]`;
  if (schema.type === 'object') return objectOf(schema, path, classes);
  if (schema.contentEncoding === 'bytes') return 'Union[bytes, str]';
  const plain = { string: 'str', boolean: 'bool', integer: 'int', number: 'float' }[String(schema.type)];
  return plain ?? 'Any';
}

function objectOf(schema: JsonSchema, path: string, classes: Map<string, string>): string {
  if (schema.properties === undefined)
    return `Dict[str, ${typeOf(Object(schema.additionalProperties), path, classes)}]`;
  // Free keys are passed through, and a TypedDict has none.
  if (schema.maxProperties !== undefined) return 'Dict[str, Any]';
  const title = typeof schema.title === 'string' ? schema.title : path;
  const name = RENAMED.get(title) ?? pascal(title);
  if (!classes.has(name)) classes.set(name, classOf(name, schema, classes));
  return name;
}

/** Python 3.9 has no NotRequired: the required fields are a class of their own. */
function classOf(name: string, schema: JsonSchema, classes: Map<string, string>): string {
  const needed = new Set((schema.required ?? []) as string[]);
  const own = new Map<string, string>();
  const fields = Object.entries(schema.properties as Record<string, JsonSchema>).map(([field, inner]) => {
    if (KEYWORDS.has(field)) throw new Error(`"${field}" is a keyword of Python`);
    const type = typeOf(inner, `${name}${pascal(field)}`, own);
    const comment = typeof inner.description === 'string' ? `    #: ${inner.description}\n` : '';
    return { isNeeded: needed.has(field), text: `${comment}    ${field}: ${type}` };
  });
  for (const [inner, text] of own) if (!classes.has(inner)) classes.set(inner, text);
  const [required, optional] = [true, false].map((isNeeded) =>
    fields.filter((field) => field.isNeeded === isNeeded).map(({ text }) => text),
  ) as [string[], string[]];
  const doc = typeof schema.description === 'string' ? `    """${schema.description}."""\n\n` : '';
  if (optional.length === 0) return `class ${name}(TypedDict):\n${doc}${required.join('\n')}`;
  if (required.length === 0) return `class ${name}(TypedDict, total=False):\n${doc}${optional.join('\n')}`;
  const base = `_${name}Required`;
  return `class ${base}(TypedDict):\n${required.join('\n')}\n\n\nclass ${name}(${base}, total=False):\n${doc}${optional.join('\n')}`;
}
