/** Cold path: whether two plain values are equal. Allocates nothing: most heartbeats repeat the previous one. */

export function isSame(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (a instanceof Map) {
    if (!(b instanceof Map) || a.size !== b.size) return false;
    for (const [key, value] of a) if (!b.has(key) || !isSame(value, b.get(key))) return false;
    return true;
  }
  if (Array.isArray(a)) {
    return Array.isArray(b) && a.length === b.length && a.every((item, index) => isSame(item, b[index]));
  }
  if (Array.isArray(b) || b instanceof Map) return false;
  for (const key in a) {
    if (!isSame(a[key as keyof typeof a], b[key as keyof typeof b])) return false;
  }
  for (const key in b) {
    if (b[key as keyof typeof b] !== undefined && a[key as keyof typeof a] === undefined) return false;
  }
  return true;
}
