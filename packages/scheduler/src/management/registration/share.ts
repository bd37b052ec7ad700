/** Cold path: nodes with equal reports share one object. A fleet has few kinds of nodes and many nodes of each. */

/** Returns an earlier value of equal text, or this one. */
export type Share = <T extends object>(value: T) => T;

/** Lists must be in one order, so that equal values have equal text. A map is allowed at the top level only. */
export const textOf = (value: unknown): string =>
  value instanceof Map ? `map ${JSON.stringify([...value])}` : (JSON.stringify(value) ?? '');

export interface TextMap<T extends object> {
  get(text: string): T | undefined;
  set(text: string, value: T): void;
  /** How many texts it has. */
  readonly size: number;
}

const LEAST_SWEPT = 256;

/**
 * Bounded by the length of its texts: the least recently used is dropped first. Keeps no value alive that no node has: a short text may
 * stand for thousands of directions.
 */
export function createTextMap<T extends object>(limits: { readonly maxChars: number }): TextMap<T> {
  const known = new Map<string, WeakRef<T>>();
  let chars = 0;
  /** At this size texts whose value is gone are dropped: so they are at most as many as the others. */
  let sweepAt = LEAST_SWEPT;

  function drop(text: string): void {
    if (known.delete(text)) chars -= text.length;
  }

  function sweep(): void {
    for (const [text, reference] of known) if (reference.deref() === undefined) drop(text);
    sweepAt = Math.max(LEAST_SWEPT, 2 * known.size);
  }

  return {
    get(text) {
      const reference = known.get(text);
      const value = reference?.deref();
      if (reference === undefined || value === undefined) return undefined;
      known.delete(text);
      known.set(text, reference);
      return value;
    },

    set(text, value) {
      if (text.length > limits.maxChars || known.get(text)?.deref() !== undefined) return;
      if (known.size >= sweepAt) sweep();
      drop(text);
      known.set(text, new WeakRef(value));
      chars += text.length;
      for (const oldest of known.keys()) {
        if (chars <= limits.maxChars) break;
        drop(oldest);
      }
    },

    get size() {
      return known.size;
    },
  };
}

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
