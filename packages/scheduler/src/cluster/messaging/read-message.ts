/**
 * Hot path: validates the body of a message before its handler uses it. An operator may have re-sent an old message. A malformed
 * message fails like any that cannot be handled, and ends as a dead letter.
 */

/** Required fields; optional ones are not listed. */
export type Shape = { readonly [field: string]: 'string' | 'number' | Shape };

export function readMessage<T>(topic: string, body: unknown, shape: Shape): T {
  const lacking = lackingIn(body, shape);
  if (lacking === undefined) return body as T;
  throw new Error(`malformed message about ${topic}: ${lacking === '' ? 'its body' : lacking}`);
}

/** The first field that is missing or has the wrong type; "": the whole value. */
function lackingIn(value: unknown, shape: Shape): string | undefined {
  if (typeof value !== 'object' || value === null) return '';
  for (const field in shape) {
    const kind = shape[field] as Shape[string];
    const found = (value as Readonly<Record<string, unknown>>)[field];
    if (typeof kind === 'string') {
      if (typeof found !== kind) return field;
      continue;
    }
    const inner = lackingIn(found, kind);
    if (inner !== undefined) return inner === '' ? field : `${field}.${inner}`;
  }
  return undefined;
}
