/** The few shapes of Markdown that printed documents are made of. Pure. */

export const code = (text: string): string => `\`${text}\``;

/** A bar inside a cell would end it. */
const cell = (text: string): string => text.replaceAll('|', '\\|');

const row = (cells: readonly string[]): string => `| ${cells.map(cell).join(' | ')} |`;

export const table = (heads: readonly string[], rows: readonly (readonly string[])[]): string =>
  [row(heads), `|${'---|'.repeat(heads.length)}`, ...rows.map(row)].join('\n');

export const block = (language: string, text: string): string => `\`\`\`${language}\n${text}\n\`\`\``;

/** Parts of a page, one empty line apart. */
export const page = (...parts: readonly string[]): string => `${parts.join('\n\n')}\n`;
