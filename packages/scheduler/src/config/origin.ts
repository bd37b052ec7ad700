/** The origin of a value, and problems and warnings about it. Pure. */

export type Origin =
  | { readonly kind: 'default' }
  | { readonly kind: 'file'; readonly path: string; readonly line?: number }
  | { readonly kind: 'environment'; readonly name: string }
  | { readonly kind: 'flag'; readonly name: string };

export interface Finding {
  readonly key: string;
  readonly message: string;
  readonly origin: Origin;
}

/** A finding of a check of the whole configuration, with the keys whose values it compared. */
export interface CheckFinding {
  readonly keys: readonly [string, ...string[]];
  readonly message: string;
}

export function printOrigin(origin: Origin): string {
  if (origin.kind === 'default') return 'default';
  if (origin.kind === 'file') {
    return origin.line === undefined ? origin.path : `${origin.path}:${origin.line}`;
  }
  return origin.name;
}

export const printFinding = ({ key, message, origin }: Finding): string =>
  `${key} ${message}${origin.kind === 'default' ? '' : ` (${printOrigin(origin)})`}`;
