/** Reduces a schema to the keywords of JSON Schema, so that validators in strict mode accept it. Pure. */

export type JsonSchema = { [keyword: string]: unknown };

/** Our own keywords, for error texts, the protocol page and the roles. */
const OWN: ReadonlySet<string> = new Set(['named', 'expects', 'extension', 'speech']);
/** Their keys are names, not keywords. */
const MAPS: ReadonlySet<string> = new Set(['properties', 'patternProperties', '$defs']);
/** Their values are not schemas. */
const VALUES: ReadonlySet<string> = new Set(['const', 'enum', 'default', 'examples', 'required']);

/** The comment of parts that only programs use which negotiated them. */
export const EXTENSION_COMMENT = 'extension';

/** A copy without TypeBox's hidden properties. */
export const publishSchema = (schema: object): JsonSchema =>
  published(JSON.parse(JSON.stringify(schema))) as JsonSchema;

function published(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(published);
  if (typeof value !== 'object' || value === null) return value;
  const schema: JsonSchema = {};
  for (const [keyword, inner] of Object.entries(value)) {
    if (keyword === 'extension') schema.$comment = EXTENSION_COMMENT;
    if (!OWN.has(keyword)) schema[keyword] = publishedIn(keyword, inner);
  }
  return schema;
}

function publishedIn(keyword: string, inner: unknown): unknown {
  if (VALUES.has(keyword)) return inner;
  return MAPS.has(keyword) ? publishedMap(inner as object) : published(inner);
}

const publishedMap = (map: object): JsonSchema =>
  Object.fromEntries(Object.entries(map).map(([name, schema]) => [name, published(schema)]));
