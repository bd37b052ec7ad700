/** Prints docs/cli.md: the help text of every command. */
import type { CommandIo } from '../command-io.ts';
import { runCommand } from '../run-command.ts';
import { block, page } from './markdown.ts';

const INTRODUCTION = `# Command line

Printed from the help of the commands; do not edit it, \`npm run docs\` writes it.

In this repository the command is \`npx lingua\`. It ends with 0 when all went well, with 2 when it was called or configured wrongly, and with 1
when it could not do its work. \`serve\`, \`demo\` and \`simulate\` run until SIGTERM or Ctrl-C, \`talk\` until its time is over or one of these; the
second Ctrl-C ends them at once.`;

export async function printCli(): Promise<string> {
  const usage = await helpOf([]);
  const sections = [block('text', usage)];
  for (const name of commandNames(usage)) sections.push(`## ${name}`, block('text', await helpOf([name])));
  return page(INTRODUCTION, ...sections);
}

/** The general help lists each command on a line of its own, two spaces in. */
export const commandNames = (usage: string): string[] =>
  [...usage.matchAll(/^ {2}([a-z]+) /gm)].map(([, name = '']) => name);

async function helpOf(command: readonly string[]): Promise<string> {
  const lines: string[] = [];
  const io: CommandIo = {
    out: (line) => lines.push(line),
    err: (line) => lines.push(line),
    interrupted: AbortSignal.abort(),
  };
  const status = await runCommand([...command, '--help'], io);
  if (status !== 0) throw new Error(`"lingua ${command.join(' ')} --help" ended with ${status}`);
  return lines.join('\n');
}
