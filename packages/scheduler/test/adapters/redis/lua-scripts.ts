/** Parses the Lua scripts of the Redis adapters: the header, the calls in the body, and the call in the wrapper. */

import { existsSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { filesUnder, ROOT, type SourceFile } from '../../architecture/source-files.ts';

export interface LuaScript {
  readonly path: string;
  readonly name: string;
  /** Undefined if the file does not begin with one. */
  readonly header: string | undefined;
  readonly body: string;
  /** Of the wrapper beside it. */
  readonly wrapper: string | undefined;
}

export interface LuaCall {
  readonly isProtected: boolean;
  readonly command: string | undefined;
  readonly args: readonly string[];
}

const HOME = 'packages/scheduler/src/adapters/redis';

export const luaScripts = (): LuaScript[] => filesUnder(HOME, '.lua').map(takeApart);

export function takeApart({ path, text }: SourceFile): LuaScript {
  const [, header, body] = /^--\[\[(.*?)\]\]\n(.*)$/s.exec(text) ?? [];
  const wrapper = join(ROOT, path.replace(/\.lua$/, '.ts'));
  return {
    path,
    name: basename(path, '.lua'),
    header,
    body: (body ?? text).replace(/--.*$/gm, ''),
    wrapper: existsSync(wrapper) ? readFileSync(wrapper, 'utf8') : undefined,
  };
}

/** `KEYS[1] node  HASH …` → ['node']; entries that are out of order are left out, so that the test fails. */
export function listed(header: string, kind: 'KEYS' | 'ARGV'): string[] {
  const names: string[] = [];
  for (const [, index, name = ''] of header.matchAll(new RegExp(`^ +${kind}\\[(\\d+)\\] +(\\w+)`, 'gm'))) {
    if (Number(index) === names.length + 1) names.push(name);
  }
  return names;
}

export const usedIndexes = (body: string, kind: 'KEYS' | 'ARGV'): number[] =>
  [
    ...new Set(
      [...body.matchAll(new RegExp(`\\b${kind}\\[(\\d+)\\]`, 'g'))].map(([, index]) => Number(index)),
    ),
  ].sort((a, b) => a - b);

/** First argument of a variable list: the last listed name then stands for all of them. */
export const takesAnyNumber = (body: string): boolean =>
  /(?:unpack|ipairs)\(ARGV\b|#ARGV\b|\bARGV\[[a-z_]/.test(body);

/** Words that a reply may begin with. */
export function promisedWords(header: string): string[] {
  const [returns = ''] = /Returns .*?(?=\n {2}(?:Idempotent|Safe twice|Running)|$)/s.exec(header) ?? [];
  return [...new Set([...returns.matchAll(/"(\w+)"/g)].map(([, word = '']) => word))];
}

export const returnedWords = (body: string): string[] => [
  ...new Set([...body.matchAll(/return \{ '(\w+)'/g)].map(([, word = '']) => word)),
];

/** What a script may return besides `{ 'word' …`: a variable with only such words or lists, or the error of a protected call. */
export function oddReturns(body: string): string[] {
  const main = body.replace(/^local function [\s\S]*?^end$/gm, '');
  const isWord = (value: string): boolean =>
    /^'\w+'$/.test(value) || /^[\w >=]+ and '\w+' or '\w+'$/.test(value);
  const holdsWord = (name: string): boolean => new RegExp(`local ${name} = '\\w+'`).test(main);
  const holdsList = (name: string): boolean =>
    new RegExp(`local ${name} = (\\{ '\\w+'|redis\\.pcall)`).test(main);
  return [...main.matchAll(/\breturn (.*)$/gm)].flatMap(([, given = '']) => {
    const [first = ''] = splitAtCommas(given.replace(/^\{ ?(.*?) ?\}$/, '$1'));
    const isFine = given.startsWith('{') ? isWord(first) || holdsWord(first) : holdsList(given);
    return isFine ? [] : [given];
  });
}

export const callsOf = (body: string): LuaCall[] =>
  [...body.matchAll(/redis\.(p?call)\(/g)].map((match) => {
    const [command = '', ...args] = splitAtCommas(insideBrackets(body, match.index + match[0].length - 1));
    return { isProtected: match[1] === 'pcall', command: /^'([A-Z]+)'$/.exec(command)?.[1], args };
  });

/** Every name that can only hold a declared key: bound to KEYS[i], or to a name that is. */
export function keyNames(body: string): ReadonlySet<string> {
  const origins = new Map<string, string[]>();
  const bind = (name: string, value: string) => origins.set(name, [...(origins.get(name) ?? []), value]);
  for (const [, names = '', values = ''] of body.matchAll(/^\s*(?:local )?(\w+(?:, \w+)*) = (.*)$/gm)) {
    const each = splitAtCommas(values);
    for (const [index, name] of names.split(', ').entries()) bind(name, each[index] ?? '');
  }
  for (const [, name = '', values = ''] of body.matchAll(/for _, (\w+) in ipairs\(\{ (.*) \}\) do/g)) {
    for (const value of splitAtCommas(values)) bind(name, value);
  }
  const isKey = (value: string, seen: readonly string[] = []): boolean =>
    /^KEYS\[\d+\]$/.test(value) ||
    (!seen.includes(value) &&
      (origins.get(value)?.every((origin) => isKey(origin, [...seen, value])) ?? false));
  return new Set([...origins.keys()].filter((name) => isKey(name)));
}

/** How many keys and arguments the wrapper passes; undefined if it is known at run time only. */
export function passed(wrapper: string): { keys: number | undefined; args: number | undefined } {
  const call = /\brun\(/.exec(wrapper);
  if (call !== null) {
    const [keys = '', args = ''] = splitAtCommas(insideBrackets(wrapper, call.index + call[0].length - 1));
    return { keys: lengthOf(keys), args: lengthOf(args) };
  }
  const part = (name: string): string => {
    const found = new RegExp(`\\b${name}: \\[`).exec(wrapper);
    return found === null ? '' : `[${insideBrackets(wrapper, found.index + found[0].length - 1)}]`;
  };
  return { keys: lengthOf(part('keys')), args: lengthOf(part('args')) };
}

function lengthOf(list: string): number | undefined {
  if (!/^\[.*\]$/s.test(list) || list.includes('...')) return undefined;
  return splitAtCommas(list.slice(1, -1)).length;
}

/** The text between two matching brackets. */
export function insideBrackets(text: string, from: number): string {
  let depth = 0;
  for (let at = from; at < text.length; at += 1) {
    if ('([{'.includes(text[at] as string)) depth += 1;
    else if (')]}'.includes(text[at] as string)) depth -= 1;
    if (depth === 0) return text.slice(from + 1, at);
  }
  return text.slice(from + 1);
}

export function splitAtCommas(text: string): string[] {
  const parts = [''];
  let depth = 0;
  for (const message of text) {
    if ('([{'.includes(message)) depth += 1;
    else if (')]}'.includes(message)) depth -= 1;
    if (message === ',' && depth === 0) parts.push('');
    else parts[parts.length - 1] += message;
  }
  return parts.map((part) => part.trim()).filter((part) => part !== '');
}
