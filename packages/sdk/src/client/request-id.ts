/** Names for utterances that nobody else can guess or has used. */

const BYTES = 16;

/** From getRandomValues and not randomUUID, which pages without https do not have. */
export function newRequestId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(BYTES));
  return `req-${Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')}`;
}
