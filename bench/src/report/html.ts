/** Text as HTML or SVG, with everything in it taken by its word. */

const NAMED: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

export const asText = (text: string): string => text.replace(/[&<>"]/g, (sign) => NAMED[sign] ?? sign);
