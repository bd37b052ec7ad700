/** Failure path: where a text stops being JSON. The error of JSON.parse does not always say it, and quotes the text. Pure. */

const SPACE = /[ \t\n\r]*/y;
/** A string has no control characters; a range from the space excludes them. */
const SCALAR =
  /"[ !#-[\]-\uffff]*(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[ !#-[\]-\uffff]*)*"|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;

/** What may follow: a value, a value or the end of an empty list, a key, a key or the end of an empty object, a comma or an end. */
type Next = 'value' | 'first_item' | 'key' | 'first_key' | 'more';

/** The offset of the first character that cannot be there; the length of the text if it ends too early or is JSON. */
export function findJsonFault(text: string): number {
  const open: ('[' | '{')[] = [];
  let next: Next = 'value';
  for (let at = skip(SPACE, text, 0); at < text.length; at = skip(SPACE, text, at)) {
    const char = text[at] as string;
    const inside = open.at(-1);
    const isEmptyEnd = (next === 'first_item' && char === ']') || (next === 'first_key' && char === '}');
    if (isEmptyEnd || (next === 'more' && inside !== undefined && char === (inside === '[' ? ']' : '}'))) {
      open.pop();
      next = 'more';
      at += 1;
    } else if (next === 'more') {
      if (char !== ',' || inside === undefined) return at;
      next = inside === '[' ? 'value' : 'key';
      at += 1;
    } else if (next === 'key' || next === 'first_key') {
      const end = char === '"' ? skip(SCALAR, text, at) : at;
      if (end === at) return at;
      const colon = skip(SPACE, text, end);
      if (text[colon] !== ':') return colon;
      next = 'value';
      at = colon + 1;
    } else if (char === '[' || char === '{') {
      open.push(char);
      next = char === '[' ? 'first_item' : 'first_key';
      at += 1;
    } else {
      const end = skip(SCALAR, text, at);
      if (end === at) return at;
      next = 'more';
      at = end;
    }
  }
  return text.length;
}

/** For people: line and column, from 1. */
export function describeOffset(text: string, offset: number): string {
  const before = text.slice(0, offset).split('\n');
  return `line ${before.length}, column ${(before.at(-1) as string).length + 1}`;
}

function skip(pattern: RegExp, text: string, from: number): number {
  pattern.lastIndex = from;
  return pattern.test(text) ? pattern.lastIndex : from;
}
