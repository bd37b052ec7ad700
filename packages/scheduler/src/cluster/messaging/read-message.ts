/**
 * Hot path: what a message says, if it has what its handler needs. It may be of an instance of another version, or have been put back by
 * an operator; one that makes no sense is refused like any that cannot be handled, and ends among the dead letters.
 */

/** What must be there; what may be absent is not named. */
export type Shape = { readonly [field: string]: 'string' | 'number' | Shape };

export function readMessage<T>(topic: string, body: unknown, shape: Shape): T {
  const lacking = lackingIn(body, shape);
  if (lacking === undefined) return body as T;
  throw new Error(`a message about ${topic} that makes no sense: ${lacking === '' ? 'its body' : lacking}`);
}

/** The first field that is not as it must be; "": all of it. */
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
