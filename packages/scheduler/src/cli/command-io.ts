/** What a command needs from its terminal. */
import { setTimeout as sleep } from 'node:timers/promises';

export interface CommandIo {
  out(line: string): void;
  err(line: string): void;
  /** Aborted when the command must end, for example by Ctrl-C. */
  readonly interrupted: AbortSignal;
  /** Absent: empty. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** A person reads the output. */
  readonly isTerminal?: boolean;
  /** Resolves after this time, or when the command must end. Absent: immediately. */
  wait?(ms: number): Promise<void>;
  /** Calls `listen` when the configuration must be read again. Returns a function that ends this. Absent: a reload is not possible. */
  onReload?(listen: () => void): () => void;
}

/** Resolves when the command must end. */
export const interruption = ({ interrupted }: CommandIo): Promise<void> =>
  new Promise((resolve) => {
    if (interrupted.aborted) resolve();
    else interrupted.addEventListener('abort', () => resolve(), { once: true });
  });

/** npm passes on a Ctrl-C that its child has received from the terminal already: a second one within this time is the same. */
const SAME_INTERRUPT_MS = 500;
const INTERRUPTED_STATUS = 130;

/** The terminal of this process. A second Ctrl-C or SIGTERM ends the process at once. */
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
    env: process.env,
    isTerminal: process.stdout.isTTY === true,
    wait: (ms) => sleep(ms, undefined, { signal: controller.signal }).catch(() => undefined),
    onReload(listen) {
      process.on('SIGHUP', listen);
      return () => process.off('SIGHUP', listen);
    },
  };
}
