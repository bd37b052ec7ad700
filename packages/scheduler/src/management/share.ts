/** Cold path: lets nodes that say the same share one object. A fleet has few kinds of nodes, and many of each. */

/** Answers with an earlier value of equal text, or with this one. */
export type Share = <T>(value: T) => T;

/**
 * Bounded by the text it holds: what was asked for longest ago is forgotten first, which costs sharing and nothing else.
 * Text is what JSON makes of a value, so lists must come in one order.
 */
export function createShare(limits: { readonly maxChars: number }): Share {
  const known = new Map<string, unknown>();
  let chars = 0;

  return <T>(value: T): T => {
    const text = JSON.stringify(value, (_, part) => (part instanceof Map ? { entries: [...part] } : part));
    if (text === undefined || text.length > limits.maxChars) return value;
    const shared = known.get(text) as T | undefined;
    if (shared !== undefined) {
      known.delete(text);
      known.set(text, shared);
      return shared;
    }
    known.set(text, value);
    chars += text.length;
    for (const oldest of known.keys()) {
      if (chars <= limits.maxChars) break;
      known.delete(oldest);
      chars -= oldest.length;
    }
    return value;
  };
}
