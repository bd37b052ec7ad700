/** Reads numbers, booleans and lists from a text query as the schema expects, and validates them. */
import type { Static, TSchema } from 'typebox';
import { type Validate, validator } from './validator.ts';

type Fields = Record<string, { type?: string }>;

export function queryValidator<Schema extends TSchema & { properties: object }>(
  schema: Schema,
): Validate<Static<Schema>> {
  const validate = validator(schema);
  const fields = new Map(Object.entries(schema.properties as Fields));
  return (query) => {
    if (typeof query !== 'object' || query === null) return validate(query);
    const read: Record<string, unknown> = {};
    for (const [name, field] of fields) {
      const given = Object.hasOwn(query, name) ? (query as Record<string, unknown>)[name] : undefined;
      if (given !== undefined) read[name] = fromText(given, field.type);
    }
    return validate(read);
  };
}

/** Unreadable values stay text, so that validation names the field. */
function fromText(given: unknown, type: string | undefined): unknown {
  if (type === 'array') return Array.isArray(given) ? given : [given];
  if (typeof given !== 'string') return given;
  if (type === 'boolean' && (given === 'true' || given === 'false')) return given === 'true';
  if ((type === 'integer' || type === 'number') && /^-?\d{1,16}(\.\d{1,16})?$/.test(given))
    return Number(given);
  return given;
}
