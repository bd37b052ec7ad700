/** Commands that call a running scheduler: their common flags and exit codes. */
import { readFile } from 'node:fs/promises';
import type { CommandIo } from './command-io.ts';
import { CommandFailure, createOperatorClient, type OperatorClient } from './operator-client.ts';
import { type Paint, paintFor } from './paint.ts';
import { parseFlags } from './parse-flags.ts';

export const DEFAULT_URL = 'http://127.0.0.1:5010';

export const OPERATOR_FLAGS_USAGE = `  --url URL          address of the scheduler (LINGUA_URL, else ${DEFAULT_URL}); with many instances any of them
  --token TOKEN      token of an operator, if the scheduler requires one (LINGUA_TOKEN); other users of this machine can see it
  --token-file FILE  reads the token from a file
  --json             for machines
  --help             this text`;

export const WATCH_USAGE = '  --watch            prints it again every two seconds, until Ctrl-C';

const WATCH_MS = 2_000;
const CLEAR_SCREEN = '\u001b[2J\u001b[H';

const SHARED = {
  url: { type: 'string' },
  token: { type: 'string' },
  'token-file': { type: 'string' },
  json: { type: 'boolean', default: false },
  help: { type: 'boolean', short: 'h', default: false },
} as const;

/** The flags that only some of these commands have. */
const OWN = {
  watch: { type: 'boolean' },
  outcome: { type: 'string' },
  reason: { type: 'string' },
  status: { type: 'string' },
  instance: { type: 'string' },
  'older-than': { type: 'string' },
  all: { type: 'boolean' },
  limit: { type: 'string' },
  raw: { type: 'boolean' },
  src: { type: 'string' },
  tgt: { type: 'string' },
  text: { type: 'string' },
  tenant: { type: 'string' },
  session: { type: 'string' },
  require: { type: 'string', multiple: true },
  feature: { type: 'string', multiple: true },
  tts: { type: 'boolean' },
  node: { type: 'string' },
  exclude: { type: 'string' },
  body: { type: 'string' },
  from: { type: 'string' },
  to: { type: 'string' },
  by: { type: 'string' },
} as const;

export interface OwnFlags {
  readonly watch?: boolean | undefined;
  readonly outcome?: string | undefined;
  readonly reason?: string | undefined;
  readonly status?: string | undefined;
  readonly instance?: string | undefined;
  readonly 'older-than'?: string | undefined;
  readonly all?: boolean | undefined;
  readonly limit?: string | undefined;
  readonly raw?: boolean | undefined;
  readonly src?: string | undefined;
  readonly tgt?: string | undefined;
  readonly text?: string | undefined;
  readonly tenant?: string | undefined;
  readonly session?: string | undefined;
  readonly require?: readonly string[] | undefined;
  readonly feature?: readonly string[] | undefined;
  readonly tts?: boolean | undefined;
  readonly node?: string | undefined;
  readonly exclude?: string | undefined;
  readonly body?: string | undefined;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly by?: string | undefined;
}

export interface OperatorRequest {
  readonly client: OperatorClient;
  readonly flags: OwnFlags;
  readonly words: readonly string[];
  readonly url: string;
  readonly isJson: boolean;
  readonly paint: Paint;
  readonly io: CommandIo;
}

/** Thrown by a command that was called wrongly; its exit code is 2. */
export class CommandMisuse extends Error {}

export interface OperatorCommand {
  readonly name: string;
  readonly usage: string;
  readonly own: readonly (keyof OwnFlags)[];
  run(request: OperatorRequest): Promise<number>;
}

export async function runOperatorCommand(
  { name, usage, own, run }: OperatorCommand,
  argv: readonly string[],
  io: CommandIo,
): Promise<number> {
  const report = (problem: string): void => io.err(`lingua ${name}: ${problem}`);
  const parsed = parseFlags(
    argv,
    { ...SHARED, ...OWN },
    { allowsWords: true, offered: [...Object.keys(SHARED), ...own] },
  );
  if (typeof parsed === 'string') {
    report(parsed);
    return 2;
  }
  const { url: given, token: word, 'token-file': file, json: isJson, help, ...flags } = parsed.values;
  if (help) {
    io.out(usage);
    return 0;
  }
  const foreign = Object.keys(flags).filter((flag) => !(own as readonly string[]).includes(flag));
  for (const flag of foreign) report(`there is no option --${flag} (--help lists the options)`);
  const { env = {} } = io;
  const url = given ?? (env.LINGUA_URL || DEFAULT_URL);
  const isAddress = /^https?:\/\//.test(url) && URL.canParse(url);
  if (!isAddress)
    report(`${given === undefined ? 'LINGUA_URL' : '--url'} must start with http:// or https://`);
  if (foreign.length > 0 || !isAddress) return 2;
  try {
    const token = word ?? (file === undefined ? env.LINGUA_TOKEN || undefined : await readToken(file));
    const client = createOperatorClient({ url, token, interrupted: io.interrupted });
    const request = { client, flags, words: parsed.positionals, url, isJson, io, paint: paintFor(io) };
    return await (flags.watch === true ? watch(request, run, report) : run(request));
  } catch (error) {
    if (!(error instanceof CommandFailure) && !(error instanceof CommandMisuse)) throw error;
    report(error.message);
    return error instanceof CommandMisuse ? 2 : 1;
  }
}

/** A scheduler that does not answer may be restarting: the next round tries again. */
async function watch(
  request: OperatorRequest,
  run: OperatorCommand['run'],
  report: (problem: string) => void,
): Promise<number> {
  const { io } = request;
  while (!io.interrupted.aborted) {
    if (io.isTerminal === true && !request.isJson) io.out(CLEAR_SCREEN);
    try {
      await run(request);
    } catch (error) {
      if (!(error instanceof CommandFailure) || error.isRefused) throw error;
      if (!io.interrupted.aborted) report(error.message);
    }
    await io.wait?.(WATCH_MS);
  }
  return 0;
}

async function readToken(file: string): Promise<string> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    throw new CommandMisuse(`--token-file ${file} cannot be read (${(error as NodeJS.ErrnoException).code})`);
  }
  const token = text.trim();
  if (token === '' || /\s/.test(token)) throw new CommandMisuse(`--token-file ${file} must have one token`);
  return token;
}

/** The only word of a command that takes one, such as the id of a node. */
export function onlyWord({ words }: OperatorRequest, what: string): string {
  const [word, second] = words;
  if (word === undefined) throw new CommandMisuse(`${what} is missing (--help explains the command)`);
  if (second !== undefined)
    throw new CommandMisuse(`"${second}" is not expected here (--help lists the options)`);
  return encodeURIComponent(word);
}

export function noWords({ words }: OperatorRequest): void {
  if (words.length > 0)
    throw new CommandMisuse(`"${words[0]}" is not expected here (--help lists the options)`);
}
