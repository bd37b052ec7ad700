/** Text as HTML or SVG, escaped. */

const NAMED: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

export const asText = (text: string): string => text.replace(/[&<>"]/g, (sign) => NAMED[sign] ?? sign);
