/**
 * Catches errors of the node's callbacks, so that they do not reach timers and socket events: they are logged, and
 * errors of the log are dropped.
 */
import type { LogLine, NodeLog } from './node-options.ts';

const toConsole =
  (level: 'warn' | 'error'): LogLine =>
  (fields, message) =>
    console[level](`lingua node: ${message}`, fields);

const silent: LogLine = () => {};
/** For nodes whose failures are expected, such as simulated ones. */
export const SILENT_LOG: NodeLog = { debug: silent, info: silent, warn: silent, error: silent };

/** What goes wrong must not be silent in a program without a log; the rest would only be noise. */
const CONSOLE_LOG: NodeLog = { ...SILENT_LOG, warn: toConsole('warn'), error: toConsole('error') };

export function createSafeLog(log: NodeLog = CONSOLE_LOG): NodeLog {
  const line =
    (level: keyof NodeLog): LogLine =>
    (fields, message) => {
      try {
        log[level](fields, message);
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
