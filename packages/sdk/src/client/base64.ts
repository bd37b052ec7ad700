/** Base64 with functions that both browsers and Node.js have. */

/** Arguments of one call; far below every engine's limit. */
const SLICE = 8_192;

export function encodeBase64(bytes: Uint8Array): string {
  let binary = '';
  for (let at = 0; at < bytes.length; at += SLICE)
    binary += String.fromCharCode(...bytes.subarray(at, at + SLICE));
  return btoa(binary);
}

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const INVALID = 255;
const VALUES = new Uint8Array(128).fill(INVALID);
for (let value = 0; value < ALPHABET.length; value += 1) VALUES[ALPHABET.charCodeAt(value)] = value;

/** Undefined: not base64. Own code, because atob() is slow in Node.js. */
export function decodeBase64(text: string): Uint8Array | undefined {
  const end = text.endsWith('==') ? text.length - 2 : text.endsWith('=') ? text.length - 1 : text.length;
  if (end % 4 === 1) return undefined;
  const bytes = new Uint8Array(Math.floor((end * 3) / 4));
  let bits = 0;
  let at = 0;
  for (let position = 0; position < end; position += 1) {
    const value = VALUES[text.charCodeAt(position)] ?? INVALID;
    if (value === INVALID) return undefined;
    bits = (bits << 6) | value;
    if (position % 4 > 0) {
      bytes[at] = bits >> (6 - 2 * (position % 4));
      at += 1;
    }
  }
  return bytes;
}
