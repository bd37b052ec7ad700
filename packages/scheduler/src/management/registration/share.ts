/** Cold path: lets nodes that say the same share one object. A fleet has few kinds of nodes, and many of each. */

/** Answers with an earlier value of equal text, or with this one. */
export type Share = <T>(value: T) => T;

/** Lists must come in one order for equal values to have equal text. A map may stand at the top only. */
export const textOf = (value: unknown): string =>
  value instanceof Map ? `map ${JSON.stringify([...value])}` : (JSON.stringify(value) ?? '');

export interface TextMap<T> {
  get(text: string): T | undefined;
  set(text: string, value: T): void;
}

/** Bounded by the text it holds: what was asked for longest ago is forgotten first. */
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

/** What it forgets is no longer shared with later values, and nothing worse. */
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
