/** The line of each key in a TOML text, for messages only, because the parser does not report it. Pure. */

const PART = /"([^"]*)"|'([^']*)'|([A-Za-z0-9_-]+)/g;
const HEADER = /^\s*(\[\[?)([^\][]+)\]/;
const ASSIGNMENT = /^\s*([A-Za-z0-9_."'-][A-Za-z0-9_."' -]*?)\s*=/;

/** Returns the line of a key, or of the nearest table around it. */
export function tomlLines(text: string): (key: string) => number | undefined {
  const lines = new Map<string, number>();
  const rows = new Map<string, number>();
  const note = (key: string, line: number): void => {
    if (!lines.has(key)) lines.set(key, line);
  };
  let table = '';
  let openQuote: string | undefined;
  for (const [index, line] of text.split('\n').entries()) {
    const wasInside = openQuote !== undefined;
    openQuote = quoteAfter(line, openQuote);
    if (wasInside) continue;
    const header = HEADER.exec(line);
    if (header !== null) {
      const path = splitKey(header[2] ?? '');
      const parent = resolveRows(path.slice(0, -1), rows);
      const name = join(parent, path.at(-1) ?? '');
      note(name, index + 1);
      table = header[1] === '[[' ? `${name}[${rows.get(name) ?? 0}]` : resolveRows(path, rows);
      if (header[1] === '[[') rows.set(name, (rows.get(name) ?? 0) + 1);
      note(table, index + 1);
      continue;
    }
    const assignment = ASSIGNMENT.exec(line);
    if (assignment === null) continue;
    let key = table;
    for (const part of splitKey(assignment[1] ?? '')) {
      key = join(key, part);
      note(key, index + 1);
    }
  }
  return (key) => {
    for (let at = key; at !== ''; at = at.slice(0, Math.max(at.lastIndexOf('.'), at.lastIndexOf('['), 0))) {
      const line = lines.get(at);
      if (line !== undefined) return line;
    }
    return undefined;
  };
}

const join = (table: string, name: string): string => (table === '' ? name : `${table}.${name}`);

const splitKey = (key: string): readonly string[] =>
  [...key.matchAll(PART)].map(([, double, single, bare]) => double ?? single ?? bare ?? '');

/** A header below an array of tables means its last row. */
function resolveRows(path: readonly string[], rows: ReadonlyMap<string, number>): string {
  let key = '';
  for (const part of path) {
    key = join(key, part);
    const count = rows.get(key);
    if (count !== undefined) key = `${key}[${count - 1}]`;
  }
  return key;
}

/** Which triple quote is open after a line, so that the inside of a long text is not taken for keys. */
function quoteAfter(line: string, open: string | undefined): string | undefined {
  let quote = open;
  for (const [mark] of line.matchAll(/"""|'''/g)) {
    if (quote === undefined) quote = mark;
    else if (quote === mark) quote = undefined;
  }
  return quote;
}
