/** The flags and words of a command line, or what is wrong with them. Every command reads its own with it. */
import { type ParseArgsConfig, parseArgs } from 'node:util';
import { nearestName } from '../config/nearest-name.ts';
import { printable } from './print-table.ts';

type Options = NonNullable<ParseArgsConfig['options']>;

type Parsed<Known extends Options> = ReturnType<
  typeof parseArgs<{ args: string[]; options: Known; allowPositionals: boolean }>
>;

export interface ParseOptions {
  readonly allowsWords?: boolean;
  /** Those that may have been meant by one that is unknown; all, unless told. */
  readonly offered?: readonly string[];
}

/** Answers a text that says what is wrong, for the person who typed it. */
export function parseFlags<const Known extends Options>(
  argv: readonly string[],
  options: Known,
  { allowsWords = false, offered = Object.keys(options) }: ParseOptions = {},
): Parsed<Known> | string {
  try {
    return parseArgs({ args: [...argv], options, allowPositionals: allowsWords });
  } catch (error) {
    const why = error instanceof Error ? error.message.replaceAll('\n', ' ') : String(error);
    return `${inOurWords(why, offered)} (--help lists the options)`;
  }
}

/** Of what a person mistyped, Node.js says how to type something else. */
function inOurWords(why: string, known: readonly string[]): string {
  const [, option] = /^Unknown option '([^']*)'/.exec(why) ?? [];
  if (option !== undefined) {
    const near = nearestName(option.replace(/^-+/, ''), known);
    return `there is no option ${printable(option)}${near === undefined ? '' : `; did you mean --${near}?`}`;
  }
  const [, word] = /^Unexpected argument '(.*)'\. /.exec(why) ?? [];
  return word === undefined ? why : `"${printable(word)}" is not expected here`;
}
