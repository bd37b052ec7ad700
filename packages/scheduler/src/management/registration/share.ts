/** Cold path: nodes with equal reports share one object. A fleet has few kinds of nodes and many nodes of each. */

/** Returns an earlier value of equal text, or this one. */
export type Share = <T>(value: T) => T;

/** Lists must be in one order, so that equal values have equal text. A map is allowed at the top level only. */
export const textOf = (value: unknown): string =>
  value instanceof Map ? `map ${JSON.stringify([...value])}` : (JSON.stringify(value) ?? '');

export interface TextMap<T> {
  get(text: string): T | undefined;
  set(text: string, value: T): void;
}

/** Bounded by the length of its texts: the least recently used is dropped first. */
export function createTextMap<T>(limits: { readonly maxChars: number }): TextMap<T> {
  const known = new Map<string, T>();
  let chars = 0;

  return {
    get(text) {
      const value = known.get(text);
      if (value === undefined) return undefined;
      known.delete(text);
      known.set(text, value);
      return value;
    },

    set(text, value) {
      if (text.length > limits.maxChars || known.has(text)) return;
      known.set(text, value);
      chars += text.length;
      for (const oldest of known.keys()) {
        if (chars <= limits.maxChars) break;
        known.delete(oldest);
        chars -= oldest.length;
      }
    },
  };
}

/** A dropped value is no longer shared with later ones, which is only a matter of memory. */
export function createShare(limits: { readonly maxChars: number }): Share {
  const known = createTextMap<unknown>(limits);
  return <T>(value: T): T => {
    const text = textOf(value);
    const shared = known.get(text) as T | undefined;
    if (shared !== undefined) return shared;
    known.set(text, value);
    return value;
  };
}
