/** What the command needs from its terminal. */

export interface Terminal {
  out(line: string): void;
  err(line: string): void;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Aborted when the command must end, for example by Ctrl-C. */
  readonly interrupted: AbortSignal;
}

/** The terminal of this process. A second Ctrl-C ends it at once. */
export function createProcessTerminal(): Terminal {
  const controller = new AbortController();
  const end = (): void => {
    process.once('SIGINT', () => process.exit(130));
    controller.abort(new Error('interrupted'));
  };
  process.once('SIGINT', end);
  process.once('SIGTERM', end);
  return {
    out(line) {
      process.stdout.write(`${line}\n`);
    },
    err(line) {
      process.stderr.write(`${line}\n`);
    },
    env: process.env,
    interrupted: controller.signal,
  };
}
