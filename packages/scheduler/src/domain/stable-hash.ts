/** Vocabulary: a hash that is the same on every instance and in every version. Pure. */

/** FNV-1a, 32 bits. */
export function stableHash(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193) >>> 0;
  return hash;
}

/**
 * A number below `count`, the same for the same key and seed. The bits of the hash are mixed first: its low bits depend only on the last
 * characters of the key, and ids often differ only there.
 */
export function stableChoice(key: string, seed: number, count: number): number {
  let mixed = stableHash(`${seed}:${key}`);
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return ((mixed ^ (mixed >>> 16)) >>> 0) % count;
}
