/** The flags of every command with a configuration, and the reading of that configuration. */
import type { LoadResult, Origins } from '../config/load-config.ts';
import { printFinding } from '../config/origin.ts';
import { readConfig } from '../config/read-config.ts';
import type { Config } from '../config/settings.ts';
import type { Flag } from '../config/sources.ts';
import type { CommandIo } from './command-io.ts';
import { parseFlags } from './parse-flags.ts';
import { printable } from './print-table.ts';

export const SERVER_FLAGS_USAGE = `  --config FILE      configuration file (./config.toml if there is one)
  --host HOST        where to listen
  --port PORT
  --set KEY=VALUE    any setting, may be repeated; docs/config.md lists them
  --help             this text`;

export interface Extra {
  readonly json?: { readonly type: 'boolean' };
}

export type ServerFlags =
  | {
      readonly kind: 'flags';
      readonly path: string | undefined;
      readonly flags: readonly Flag[];
      readonly isJson: boolean;
      readonly words: readonly string[];
    }
  | { readonly kind: 'help' }
  | { readonly kind: 'invalid'; readonly problem: string };

export function parseServerFlags(
  argv: readonly string[],
  { allowsWords = false }: { readonly allowsWords?: boolean } = {},
): ServerFlags {
  const parsed = parseFlags(argv, OPTIONS, { allowsWords: true });
  if (typeof parsed === 'string') return { kind: 'invalid', problem: parsed };
  const { values, positionals } = parsed;
  if (values.help === true) return { kind: 'help' };
  const [stray] = positionals;
  // Without this check a forgotten flag name would start a server with other settings than intended.
  if (stray !== undefined && !allowsWords) return { kind: 'invalid', problem: unexpectedWord(stray) };
  const flags: Flag[] = (values.set ?? []).map((pair): Flag => ['set', pair]);
  if (values.host !== undefined) flags.push(['host', values.host]);
  if (values.port !== undefined) flags.push(['port', values.port]);
  return { kind: 'flags', path: values.config, flags, isJson: values.json === true, words: positionals };
}

function unexpectedWord(word: string): string {
  const meant = MEANT.find(({ looks }) => looks.test(word));
  const advice =
    meant === undefined ? '--help lists the options' : `did you mean ${meant.flag} ${printable(word)}?`;
  return `"${printable(word)}" is not expected here; ${advice}`;
}

const MEANT = [
  { looks: /^[\w.-]+=/, flag: '--set' },
  { looks: /^\d{1,5}$/, flag: '--port' },
  { looks: /\.toml$|^\.{0,2}\//, flag: '--config' },
] as const;

const OPTIONS = {
  config: { type: 'string' },
  host: { type: 'string' },
  port: { type: 'string' },
  set: { type: 'string', multiple: true },
  json: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const;

export interface ReadyConfig {
  readonly config: Config;
  readonly origins: Origins;
  /** Reads the same sources again. */
  readonly reread: () => Promise<LoadResult>;
}

/** The configuration, or undefined after every problem has been printed. */
export async function readServerConfig(
  from: { readonly path: string | undefined; readonly flags: readonly Flag[] },
  io: CommandIo,
): Promise<ReadyConfig | undefined> {
  const reread = (): Promise<LoadResult> =>
    readConfig({ path: from.path, env: process.env, flags: from.flags });
  const loaded = await reread();
  if (loaded.kind === 'invalid') {
    io.err('lingua: the configuration cannot be used:');
    for (const problem of loaded.problems) io.err(`  ${printFinding(problem)}`);
    return undefined;
  }
  for (const warning of loaded.warnings) io.err(`warning: ${printFinding(warning)}`);
  return { ...loaded, reread };
}
