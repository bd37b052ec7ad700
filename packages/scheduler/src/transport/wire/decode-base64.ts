/** Base64 text to bytes, or nothing if it is not base64. Pure. */

/**
 * The system's decoder skips what it does not know, so every stray character makes the result shorter than the length
 * of the text promises: comparing the two validates without a second walk over what may be megabytes.
 */
export function decodeBase64(text: string): Buffer | undefined {
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0;
  const digits = text.length - padding;
  if (digits % 4 === 1 || (padding > 0 && text.length % 4 !== 0)) return undefined;
  const bytes = Buffer.from(text, 'base64');
  return bytes.length === Math.floor((digits * 3) / 4) ? bytes : undefined;
}
