/** The command `lingua serve`: the production start. */
import type { CommandIo } from '../command-io.ts';
import { runApp } from '../run-app.ts';
import { parseServerFlags, readServerConfig, SERVER_FLAGS_USAGE } from '../server-flags.ts';

export const SERVE_USAGE = `Usage: lingua serve [options]

Runs the scheduler until SIGTERM or Ctrl-C, then drains and ends with 0. SIGHUP reads the pools (scheduler.pools) and the
tokens of the configuration anew; no job is dropped, sockets of revoked tokens are closed, and a configuration that cannot be
used changes nothing.

${SERVER_FLAGS_USAGE}`;

export async function runServe(argv: readonly string[], io: CommandIo): Promise<number> {
  const flags = parseServerFlags(argv);
  if (flags.kind === 'help') {
    io.out(SERVE_USAGE);
    return 0;
  }
  if (flags.kind === 'invalid') {
    io.err(`lingua serve: ${flags.problem}`);
    return 2;
  }
  const ready = await readServerConfig(flags, io);
  return ready === undefined ? 2 : runApp(ready.config, io, ready);
}
