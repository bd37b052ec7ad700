/** Commands that call a running scheduler: their common flags and exit codes. */
import type { CommandIo } from './command-io.ts';
import { CommandFailure, createOperatorClient, type OperatorClient } from './operator-client.ts';
import { parseFlags } from './parse-flags.ts';

export const DEFAULT_URL = 'http://127.0.0.1:5010';

export const OPERATOR_FLAGS_USAGE = `  --url URL          address of the scheduler (${DEFAULT_URL}); with many instances any of them
  --token TOKEN      token of an operator, if the scheduler requires one
  --json             for machines
  --help             this text`;

const SHARED = {
  url: { type: 'string', default: DEFAULT_URL },
  token: { type: 'string' },
  json: { type: 'boolean', default: false },
  help: { type: 'boolean', short: 'h', default: false },
} as const;

/** The flags that only some of these commands have. */
const OWN = {
  instance: { type: 'string' },
  'older-than': { type: 'string' },
  all: { type: 'boolean' },
  limit: { type: 'string' },
  raw: { type: 'boolean' },
  src: { type: 'string' },
  tgt: { type: 'string' },
  tenant: { type: 'string' },
  session: { type: 'string' },
  require: { type: 'string', multiple: true },
  feature: { type: 'string', multiple: true },
  tts: { type: 'boolean' },
  node: { type: 'string' },
  exclude: { type: 'string' },
  body: { type: 'string' },
} as const;

export interface OwnFlags {
  readonly instance?: string | undefined;
  readonly 'older-than'?: string | undefined;
  readonly all?: boolean | undefined;
  readonly limit?: string | undefined;
  readonly raw?: boolean | undefined;
  readonly src?: string | undefined;
  readonly tgt?: string | undefined;
  readonly tenant?: string | undefined;
  readonly session?: string | undefined;
  readonly require?: readonly string[] | undefined;
  readonly feature?: readonly string[] | undefined;
  readonly tts?: boolean | undefined;
  readonly node?: string | undefined;
  readonly exclude?: string | undefined;
  readonly body?: string | undefined;
}

export interface OperatorRequest {
  readonly client: OperatorClient;
  readonly flags: OwnFlags;
  readonly words: readonly string[];
  readonly url: string;
  readonly isJson: boolean;
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
  const { url, token, json: isJson, help, ...flags } = parsed.values;
  if (help) {
    io.out(usage);
    return 0;
  }
  const foreign = Object.keys(flags).filter((flag) => !(own as readonly string[]).includes(flag));
  for (const flag of foreign) report(`there is no option --${flag} (--help lists the options)`);
  const isAddress = /^https?:\/\//.test(url) && URL.canParse(url);
  if (!isAddress) report('--url must start with http:// or https://');
  if (foreign.length > 0 || !isAddress) return 2;
  const client = createOperatorClient({ url, token, interrupted: io.interrupted });
  try {
    return await run({ client, flags, words: parsed.positionals, url, isJson, io });
  } catch (error) {
    if (!(error instanceof CommandFailure) && !(error instanceof CommandMisuse)) throw error;
    report(error.message);
    return error instanceof CommandMisuse ? 2 : 1;
  }
}
