/** Cold path: values by their text, so that equal ones are kept once. Keeps no value alive, and no text of a value that is gone. */

export interface TextMap<T extends object> {
  get(text: string): T | undefined;
  set(text: string, value: T): void;
}

/** Bounded by the length of its texts: the least recently used is dropped first. A short text may stand for thousands of directions. */
export function createTextMap<T extends object>(limits: { readonly maxChars: number }): TextMap<T> {
  const known = new Map<string, WeakRef<T>>();
  let chars = 0;
  const gone = new FinalizationRegistry<string>((text) => {
    // It may have another value by now.
    if (known.get(text)?.deref() === undefined) drop(text);
  });

  function drop(text: string): void {
    if (known.delete(text)) chars -= text.length;
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
      drop(text);
      known.set(text, new WeakRef(value));
      chars += text.length;
      gone.register(value, text);
      for (const oldest of known.keys()) {
        if (chars <= limits.maxChars) break;
        drop(oldest);
      }
    },
  };
}
