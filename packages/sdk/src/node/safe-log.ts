/**
 * Catches errors of the node's callbacks, so that they do not reach timers and socket events: they are logged, and
 * errors of the log are dropped.
 */
import type { LogLine, NodeLog } from './node-options.ts';

/** Without a log there is no output: a library does not write to the console. */
export function createSafeLog(log: NodeLog | undefined): NodeLog {
  const line =
    (level: keyof NodeLog): LogLine =>
    (fields, message) => {
      try {
        log?.[level](fields, message);
      } catch {
        // There is no other place to report it.
      }
    };
  return { debug: line('debug'), info: line('info'), warn: line('warn'), error: line('error') };
}

export function guard(log: NodeLog, name: string, call: () => void | Promise<void>): void {
  const fault = (error: unknown): void => log.error({ error }, `${name} threw an error`);
  try {
    call()?.catch(fault);
  } catch (error) {
    fault(error);
  }
}
