/** One line that shows the progress of a soak: overwritten on a terminal, printed from time to time in a file. */
import type { Progress } from '../run-soak.ts';

const EVERY_MS = 10_000;

export interface Reported {
  readonly onProgress: Progress;
  end(): void;
}

export function printProgress(
  minutes: number,
  out: { readonly isTTY?: boolean; write(text: string): unknown },
): Reported {
  const isSeen = out.isTTY === true;
  let printedAt = Number.NEGATIVE_INFINITY;
  let lastPhase = '';
  let width = 0;

  function print(line: string): void {
    if (isSeen) out.write(`\r${line.padEnd(width)}`);
    else out.write(`${line}\n`);
    width = line.length;
  }

  return {
    onProgress({ phase, seconds, work }) {
      const isDue = isSeen || phase !== lastPhase || performance.now() - printedAt >= EVERY_MS;
      if (!isDue) return;
      printedAt = performance.now();
      lastPhase = phase;
      if (phase === 'starts') print('starting Redis, schedulers and nodes');
      else if (phase === 'ends')
        print(`the load is over; for ${seconds.toFixed(0)} s waiting until all is as before`);
      else
        print(
          `${clock(seconds)} of ${clock(minutes * 60)}: ${work.sessions} sessions, ${work.utterances + work.dispatches} requests, ` +
            `${work.results} results, ${work.missing} without one, ${work.refused} refused, ${work.nodesCut + work.nodesKilled} nodes lost`,
        );
    },
    end() {
      if (isSeen && width > 0) out.write('\n');
    },
  };
}

const clock = (seconds: number): string =>
  `${Math.floor(seconds / 60)}:${String(Math.floor(seconds % 60)).padStart(2, '0')}`;
