/** What a command needs from the terminal it runs in. */

export interface CommandIo {
  out(line: string): void;
  err(line: string): void;
  /** Aborted when the command is to end, as by Ctrl-C. */
  readonly interrupted: AbortSignal;
  /** Hears when the configuration is to be read anew, until what it answers is called. Absent: nobody can ask for that. */
  onReload?(listen: () => void): () => void;
}

/** Resolves when the command is to end. */
export const interruption = ({ interrupted }: CommandIo): Promise<void> =>
  new Promise((resolve) => {
    if (interrupted.aborted) resolve();
    else interrupted.addEventListener('abort', () => resolve(), { once: true });
  });

/** npm hands its children the Ctrl-C that they had from the terminal already: so soon after the first it is the same one. */
const SAME_INTERRUPT_MS = 500;
const INTERRUPTED_STATUS = 130;

/** The terminal of this process. A second Ctrl-C or SIGTERM ends it the hard way. */
export function createProcessIo(): CommandIo {
  const controller = new AbortController();
  let firstAt: number | undefined;
  process.on('SIGINT', () => {
    firstAt ??= performance.now();
    if (performance.now() - firstAt > SAME_INTERRUPT_MS) process.exit(INTERRUPTED_STATUS);
    controller.abort();
  });
  process.once('SIGTERM', () => controller.abort());
  return {
    out: (line) => process.stdout.write(`${line}\n`),
    err: (line) => process.stderr.write(`${line}\n`),
    interrupted: controller.signal,
    onReload(listen) {
      process.on('SIGHUP', listen);
      return () => process.off('SIGHUP', listen);
    },
  };
}
