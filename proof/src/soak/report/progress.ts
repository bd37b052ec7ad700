/** One line that shows the progress of a soak: overwritten on a terminal, printed from time to time in a file. */
import type { Progress } from '../run-soak.ts';

const EVERY_MS = 10_000;

export interface Told {
  readonly tell: Progress;
  end(): void;
}

export function tellProgress(
  minutes: number,
  out: { readonly isTTY?: boolean; write(text: string): unknown },
): Told {
  const isSeen = out.isTTY === true;
  let saidAt = Number.NEGATIVE_INFINITY;
  let lastPhase = '';
  let width = 0;

  function say(line: string): void {
    if (isSeen) out.write(`\r${line.padEnd(width)}`);
    else out.write(`${line}\n`);
    width = line.length;
  }

  return {
    tell({ phase, seconds, work }) {
      const isDue = isSeen || phase !== lastPhase || performance.now() - saidAt >= EVERY_MS;
      if (!isDue) return;
      saidAt = performance.now();
      lastPhase = phase;
      if (phase === 'starts') say('starting Redis, schedulers and nodes');
      else if (phase === 'ends')
        say(`the load is over; for ${seconds.toFixed(0)} s waiting until all is as before`);
      else
        say(
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
