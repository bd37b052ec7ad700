/** What a command needs from the terminal it runs in. */

export interface CommandIo {
  out(line: string): void;
  err(line: string): void;
  /** Aborted when the command is to end, as by Ctrl-C. */
  readonly interrupted: AbortSignal;
}

/** Resolves when the command is to end. */
export const interruption = ({ interrupted }: CommandIo): Promise<void> =>
  new Promise((resolve) => {
    if (interrupted.aborted) resolve();
    else interrupted.addEventListener('abort', () => resolve(), { once: true });
  });

/** The terminal of this process. A second Ctrl-C ends it the hard way, because the first one removes its handler. */
export function createProcessIo(): CommandIo {
  const controller = new AbortController();
  const interrupt = (): void => controller.abort();
  process.once('SIGINT', interrupt);
  process.once('SIGTERM', interrupt);
  return {
    out: (line) => process.stdout.write(`${line}\n`),
    err: (line) => process.stderr.write(`${line}\n`),
    interrupted: controller.signal,
  };
}
