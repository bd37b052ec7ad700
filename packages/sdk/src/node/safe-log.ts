/** Keeps faults of the node's own callbacks out of timers and socket events: they end in the log, and a fault of that nowhere. */
import type { LogLine, NodeLog } from './node-options.ts';

/** Silent without a log: a library does not write to the console of its user. */
export function createSafeLog(log: NodeLog | undefined): NodeLog {
  const line =
    (level: keyof NodeLog): LogLine =>
    (fields, message) => {
      try {
        log?.[level](fields, message);
      } catch {
        // There is nowhere left to say it.
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
