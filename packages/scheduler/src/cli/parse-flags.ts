/** Parses the flags and words of a command line, or returns the problem. Every command uses it. */
import { type ParseArgsConfig, parseArgs } from 'node:util';
import { nearestName } from '../config/nearest-name.ts';
import { printable } from './print-table.ts';

type Options = NonNullable<ParseArgsConfig['options']>;

type Parsed<Known extends Options> = ReturnType<
  typeof parseArgs<{ args: string[]; options: Known; allowPositionals: boolean }>
>;

export interface ParseOptions {
  readonly allowsWords?: boolean;
  /** Flags to suggest for an unknown one; absent: all. */
  readonly offered?: readonly string[];
}

/** Returns a text with the problem, for the person who typed it. */
export function parseFlags<const Known extends Options>(
  argv: readonly string[],
  options: Known,
  { allowsWords = false, offered = Object.keys(options) }: ParseOptions = {},
): Parsed<Known> | string {
  try {
    const parsed = parseArgs({ args: [...argv], options, allowPositionals: allowsWords, tokens: true });
    const twice = repeated(parsed.tokens, options);
    if (twice === undefined) return parsed;
    return `--${twice} is given more than once; give it once (--help lists the options)`;
  } catch (error) {
    const why = error instanceof Error ? error.message.replaceAll('\n', ' ') : String(error);
    return `${inOurWords(why, offered)} (--help lists the options)`;
  }
}

/** Node.js would silently use the last value. */
function repeated(
  tokens: readonly { readonly kind: string; readonly name?: string }[],
  options: Options,
): string | undefined {
  const seen = new Set<string>();
  for (const { kind, name } of tokens) {
    if (kind !== 'option' || name === undefined || options[name]?.multiple === true) continue;
    if (options[name]?.type === 'string' && seen.has(name)) return name;
    seen.add(name);
  }
  return undefined;
}

/** The message of Node.js for an unknown option explains something else, so it is replaced. */
function inOurWords(why: string, known: readonly string[]): string {
  const [, option] = /^Unknown option '([^']*)'/.exec(why) ?? [];
  if (option !== undefined) {
    const near = nearestName(option.replace(/^-+/, ''), known);
    return `there is no option ${printable(option)}${near === undefined ? '' : `; did you mean --${near}?`}`;
  }
  const [, word] = /^Unexpected argument '(.*)'\. /.exec(why) ?? [];
  return word === undefined ? why : `"${printable(word)}" is not expected here`;
}
