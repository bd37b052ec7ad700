/** The building blocks of all schemas: every string, number, list and map has a bound, so no peer can make us hold more. */
import { type TSchema, type TUnsafe, Type } from 'typebox';

/** Ids become keys, labels and path segments; this alphabet is safe in all of them. */
export const ID_PATTERN = '^[A-Za-z0-9._:-]{1,128}$';
export const LONGEST_TEXT = 65_536;
/** A number in JSON beyond this is not the number that was written. */
export const LARGEST_NUMBER = Number.MAX_SAFE_INTEGER;

export const id = (description: string) =>
  Type.String({
    pattern: ID_PATTERN,
    named: 'id',
    expects: '1 to 128 letters, digits or . _ : -',
    description,
  });

/** A trace id may be empty: legacy programs echo what they were given, even if that was nothing. */
export const traceId = (description = 'Correlates everything that belongs to one utterance') =>
  Type.String({
    pattern: '^[A-Za-z0-9._:-]{0,128}$',
    named: 'id or empty',
    expects: 'at most 128 letters, digits or . _ : -',
    description,
  });

/** A tag of a language as a session or caller names it; case and aliases are folded later. */
export const language = (description: string) =>
  Type.String({
    pattern: '^[A-Za-z0-9_-]{1,35}$',
    named: 'language',
    expects: 'a language tag such as "en" or "zh-CN"',
    description,
  });

/** A short word in anyone's own vocabulary: versions, platforms, engines, models. */
export const label = (description: string) => Type.String({ maxLength: 256, description });

/** Names a service where one is asked for; what a node reports may be any label. */
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

/** A figure that is shown or averaged but decides nothing: a clock that jumped back may not cost the message. */
export const measure = (description: string) => quantity(description, { minimum: -LARGEST_NUMBER });

export const list = <Item extends TSchema>(items: Item, maxItems: number, description: string) =>
  Type.Array(items, { maxItems, description });

/** Keys are data of others (service ids, languages), hence bounded in length and number only. */
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

/** These words are known today; others are accepted, because the other side may be newer or speak of its own parts. */
export const anyOf = <const Word extends string>(
  words: readonly Word[],
  description: string,
): TUnsafe<Word | (string & {})> =>
  Type.Unsafe<Word | (string & {})>({ type: 'string', maxLength: 256, examples: [...words], description });

/** Any JSON value; it is passed on or shown, never interpreted. */
export const anything = (description: string) => Type.Unknown({ description });

export const optional = Type.Optional;

/** An optional field that the legacy programs do not know. */
export const extension = <Field extends TSchema>(field: Field) =>
  Type.Optional(Type.With(field, { extension: true }) as unknown as Field);

/** The same value in another role. */
export const described = <Field extends TSchema>(field: Field, description: string) =>
  Type.With(field, { description }) as unknown as Field;
