/** Which fields of a body have no meaning where they are, and where they belong. Pure. */
import { nearestName } from '../../../config/nearest-name.ts';

export interface KnownFields {
  readonly properties: Readonly<Record<string, object>>;
}

/** As in the schema of the reply. */
const MAX_WARNINGS = 8;
const SHOWN_CHARS = 64;

/** Undefined: every field is known. */
export type FindUnknownFields = (body: object) => readonly string[] | undefined;

export function createFindUnknownFields({ properties }: KnownFields): FindUnknownFields {
  const top = new Set(Object.keys(properties));
  const nested = new Map<string, ReadonlySet<string>>();
  for (const [name, schema] of Object.entries(properties)) {
    if ('properties' in schema) nested.set(name, new Set(Object.keys(schema.properties as object)));
  }

  function warn(name: string, parent: string | undefined): string {
    const given = (parent === undefined ? '' : `${parent}.`) + name.slice(0, SHOWN_CHARS);
    const ignored = `"${given}" is ignored`;
    if (parent !== undefined && top.has(name)) return `${ignored}: it belongs outside of "${parent}"`;
    for (const [other, names] of nested)
      if (other !== parent && names.has(name)) return `${ignored}: it belongs in "${other}"`;
    const known = parent === undefined ? top : (nested.get(parent) as ReadonlySet<string>);
    const near = nearestName(name.slice(0, SHOWN_CHARS), known);
    return `${ignored}: there is no such field${near === undefined ? '' : `; did you mean "${near}"?`}`;
  }

  // Called for every dispatch: a body without unknown fields allocates nothing.
  return function findUnknownFields(body) {
    let found: string[] | undefined;
    for (const name in body) {
      if (top.has(name)) continue;
      found ??= [];
      found.push(warn(name, undefined));
      if (found.length === MAX_WARNINGS) return found;
    }
    for (const [parent, names] of nested) {
      const part = (body as Record<string, unknown>)[parent];
      if (typeof part !== 'object' || part === null) continue;
      for (const name in part) {
        if (names.has(name)) continue;
        found ??= [];
        found.push(warn(name, parent));
        if (found.length === MAX_WARNINGS) return found;
      }
    }
    return found;
  };
}
