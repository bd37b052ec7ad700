/** Cold path: nodes with equal reports share one object. A fleet has few kinds of nodes and many nodes of each. */
import { createTextMap } from '../../domain/text-map.ts';

/** Returns an earlier value of equal text, or this one. */
export type Share = <T extends object>(value: T) => T;

/** Lists must be in one order, so that equal values have equal text. A map is allowed at the top level only. */
export const textOf = (value: unknown): string =>
  value instanceof Map ? `map ${JSON.stringify([...value])}` : (JSON.stringify(value) ?? '');

/** A dropped value is no longer shared with later ones, which is only a matter of memory. */
export function createShare(limits: { readonly maxChars: number }): Share {
  const known = createTextMap<object>(limits);
  return <T extends object>(value: T): T => {
    const text = textOf(value);
    const shared = known.get(text) as T | undefined;
    if (shared !== undefined) return shared;
    known.set(text, value);
    return value;
  };
}
