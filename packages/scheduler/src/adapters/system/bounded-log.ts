/** Limits log lines: of each message some per second, then one line with the number of lines that were left out. */
import { createBoundedMap } from '../../domain/bounded-map.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log, LogFields } from '../../ports/log.ts';

type Level = 'info' | 'warn' | 'error';

interface Second {
  readonly since: number;
  written: number;
  leftOut: number;
}

const LINES_PER_SECOND = 20;
const SECOND_MS = 1_000;
/** Messages are constants of the source; a few contain a reason. */
const MAX_MESSAGES = 1_000;

/** `debug` is not limited: it is switched on to see every line. */
export function createBoundedLog(log: Log, { clock }: { clock: Pick<Clock, 'now' | 'after'> }): Log {
  const seconds = createBoundedMap<string, Second>({ max: MAX_MESSAGES });

  function secondOf(message: string): Second {
    const known = seconds.get(message);
    if (known !== undefined && clock.now() - known.since < SECOND_MS) return known;
    const second = { since: clock.now(), written: 0, leftOut: 0 };
    seconds.set(message, second);
    return second;
  }

  const write =
    (level: Level) =>
    (fields: LogFields, message: string): void => {
      const second = secondOf(message);
      if (second.written < LINES_PER_SECOND) {
        second.written += 1;
        log[level](fields, message);
        return;
      }
      second.leftOut += 1;
      if (second.leftOut > 1) return;
      const leftMs = second.since + SECOND_MS - clock.now();
      clock.after(leftMs, () => log[level]({ left_out: second.leftOut }, message));
    };

  return {
    debug: (fields, message) => log.debug(fields, message),
    info: write('info'),
    warn: write('warn'),
    error: write('error'),
  };
}
