/**
 * The building blocks of all schemas: every string, number, list and map has a bound, so that no peer can exhaust the
 * memory.
 */
import { type TSchema, type TUnsafe, Type } from 'typebox';

/** Ids become keys, labels and path segments; this alphabet is safe in all of them. */
export const ID_PATTERN = '^[A-Za-z0-9._:-]{1,128}$';
export const LONGEST_TEXT = 65_536;
/** JSON numbers beyond this lose precision. */
export const LARGEST_NUMBER = Number.MAX_SAFE_INTEGER;

export const id = (description: string) =>
  Type.String({
    pattern: ID_PATTERN,
    named: 'id',
    expects: '1 to 128 letters, digits or . _ : -',
    description,
  });

/** A trace id may be empty: legacy programs echo the one they received, also an empty one. */
export const traceId = (description = 'Correlates everything that belongs to one utterance') =>
  Type.String({
    pattern: '^[A-Za-z0-9._:-]{0,128}$',
    named: 'id or empty',
    expects: 'at most 128 letters, digits or . _ : -',
    description,
  });

/** A language tag as a client sends it; case and aliases are normalised later. */
export const language = (description: string) =>
  Type.String({
    pattern: '^[A-Za-z0-9_-]{1,35}$',
    named: 'language',
    expects: 'a language tag such as "en" or "zh-CN"',
    description,
  });

/** A short word of an open vocabulary: versions, platforms, engines, models. */
export const label = (description: string) => Type.String({ maxLength: 256, description });

/** Names a required service; a node may report any label. */
export const serviceName = (description: string) =>
  Type.String({
    pattern: '^[A-Za-z0-9._:@/-]{1,128}$',
    named: 'service',
    expects: '1 to 128 letters, digits or . _ : @ / -',
    description,
  });

export const text = (description: string, maxLength = LONGEST_TEXT) =>
  Type.String({ maxLength, description });

/** Audio is bounded by the size of the frame or body that carries it. */
export const base64 = (description: string) => Type.String({ contentEncoding: 'base64', description });

export const flag = (description: string) => Type.Boolean({ description });

export const count = (description: string, { minimum = 0, maximum = LARGEST_NUMBER } = {}) =>
  Type.Integer({ minimum, maximum, description });

export const quantity = (description: string, { minimum = 0, maximum = LARGEST_NUMBER } = {}) =>
  Type.Number({ minimum, maximum, description });

/**
 * A figure that is only shown or averaged: a negative one, from a clock that was set back, must not invalidate the
 * message.
 */
export const measure = (description: string) => quantity(description, { minimum: -LARGEST_NUMBER });

export const list = <Item extends TSchema>(items: Item, maxItems: number, description: string) =>
  Type.Array(items, { maxItems, description });

/** Keys are data of others (service ids, languages), so only their length and number are bounded. */
export const map = <Value>(value: TSchema, maxProperties: number, description: string) =>
  Type.Unsafe<Record<string, Value>>({
    type: 'object',
    additionalProperties: value,
    propertyNames: { type: 'string', maxLength: 256 },
    maxProperties,
    description,
  });

/** One of these words and no other. */
export const oneOf = <const Words extends string[]>(words: readonly [...Words], description: string) =>
  Type.Enum<Words>(words, { type: 'string', description });

/** These words are known today; others are accepted, because the other side may be newer or have its own. */
export const anyOf = <const Word extends string>(
  words: readonly Word[],
  description: string,
): TUnsafe<Word | (string & {})> =>
  Type.Unsafe<Word | (string & {})>({ type: 'string', maxLength: 256, examples: [...words], description });

/** Any JSON value; passed on or shown, never interpreted. */
export const anything = (description: string) => Type.Unknown({ description });

export const optional = Type.Optional;

/** An optional field that legacy programs do not know. */
export const extension = <Field extends TSchema>(field: Field) =>
  Type.Optional(Type.With(field, { extension: true }) as unknown as Field);

/** Holds what people said: it is removed from replies to viewers. */
export const speech = <Field extends TSchema>(field: Field) =>
  Type.With(field, { speech: true }) as unknown as Field;

/** The same schema with another description. */
export const described = <Field extends TSchema>(field: Field, description: string) =>
  Type.With(field, { description }) as unknown as Field;
