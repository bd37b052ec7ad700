/** Moves schemas with a title to one named place, so that generated clients have one type for each. Pure. */
import { type JsonSchema, publishSchema } from '@lingua/protocol';

export interface NamedSchemas {
  /** The schema with references to the named ones; itself such a reference if it has a title. */
  refer(schema: object, name?: string): JsonSchema;
  /** All named schemas so far, by name. */
  all(): Record<string, JsonSchema>;
}

/** Their keys are names, not keywords. */
const MAPS: ReadonlySet<string> = new Set(['properties', 'patternProperties']);
/** Their values are not schemas. */
const VALUES: ReadonlySet<string> = new Set(['const', 'enum', 'default', 'examples', 'required']);

export function createNamedSchemas(): NamedSchemas {
  const named = new Map<string, JsonSchema>();

  function refer(schema: JsonSchema, givenName?: string): JsonSchema {
    const { $comment, ...rest } = schema;
    const name = givenName ?? rest.title;
    const inner = referInside(rest);
    if (typeof name !== 'string') return { ...($comment === undefined ? {} : { $comment }), ...inner };
    const known = named.get(name);
    if (known !== undefined && JSON.stringify(known) !== JSON.stringify(inner)) {
      throw new Error(`two different schemas have the title ${name}`);
    }
    named.set(name, inner);
    return { $ref: `#/components/schemas/${name}`, ...($comment === undefined ? {} : { $comment }) };
  }

  const referInside = (schema: JsonSchema): JsonSchema =>
    Object.fromEntries(
      Object.entries(schema)
        .filter(([keyword, value]) => !(keyword === 'anyOf' && isOnlyRequired(value)))
        .map(([keyword, value]) => [keyword, referIn(keyword, value)]),
    );

  function referIn(keyword: string, value: unknown): unknown {
    if (VALUES.has(keyword) || typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) return value.map((each) => refer(each as JsonSchema));
    if (!MAPS.has(keyword)) return refer(value as JsonSchema);
    return Object.fromEntries(
      Object.entries(value).map(([name, field]) => [name, refer(field as JsonSchema)]),
    );
  }

  return {
    refer: (schema, name) => refer(publishSchema(schema), name),
    all: () => Object.fromEntries([...named].sort(([a], [b]) => (a < b ? -1 : 1))),
  };
}

/** "One of these fields is required": generators make a type of it that accepts anything. The description says it, too. */
const isOnlyRequired = (alternatives: unknown): boolean =>
  (alternatives as readonly object[]).every((each) => Object.keys(each).join() === 'required');
