/** The command `lingua config print`. */
import { configToJson, printConfig } from '../../config/print-config.ts';
import type { CommandIo } from '../command-io.ts';
import { parseServerFlags, readServerConfig, SERVER_FLAGS_USAGE } from '../server-flags.ts';

export const CONFIG_USAGE = `Usage: lingua config print [options]

Prints every setting as it is in effect, and where it came from. Secrets are not shown.

${SERVER_FLAGS_USAGE}
  --json             for machines`;

export async function runConfig(argv: readonly string[], io: CommandIo): Promise<number> {
  const flags = parseServerFlags(argv, { allowsWords: true });
  if (flags.kind === 'help') {
    io.out(CONFIG_USAGE);
    return 0;
  }
  if (flags.kind === 'invalid' || flags.words[0] !== 'print' || flags.words.length > 1) {
    io.err(flags.kind === 'invalid' ? `lingua config: ${flags.problem}` : CONFIG_USAGE);
    return 2;
  }
  const ready = await readServerConfig(flags, io);
  if (ready === undefined) return 2;
  const { config, origins } = ready;
  io.out(
    flags.isJson ? JSON.stringify(configToJson(config, origins), undefined, 2) : printConfig(config, origins),
  );
  return 0;
}
