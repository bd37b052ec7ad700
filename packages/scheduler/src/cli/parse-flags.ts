/** The flags and words of a command line, or what is wrong with them. Every command reads its own with it. */
import { type ParseArgsConfig, parseArgs } from 'node:util';

type Options = NonNullable<ParseArgsConfig['options']>;

type Parsed<Known extends Options> = ReturnType<
  typeof parseArgs<{ args: string[]; options: Known; allowPositionals: boolean }>
>;

/** Answers a text that says what is wrong, for the person who typed it. */
export function parseFlags<const Known extends Options>(
  argv: readonly string[],
  options: Known,
  { allowsWords = false }: { readonly allowsWords?: boolean } = {},
): Parsed<Known> | string {
  try {
    return parseArgs({ args: [...argv], options, allowPositionals: allowsWords });
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return `${why.replaceAll('\n', ' ')} (--help lists the options)`;
  }
}
