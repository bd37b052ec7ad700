/**
 * Hot path: the moment after a node was handed a job that another instance drives. What its driver is to hear waits meanwhile for
 * more, so that it goes as one command: that the job has left, that the node has it, and its result, should it take no time.
 * Whatever cannot wait takes along what does.
 */
import type { JobId } from '../../domain/ids.ts';
import type { Cancel, Clock } from '../../ports/clock.ts';

export interface FirstWords {
  /** The moment of this job begins. Resolves at its end, after what `orAtOnce` was given for it. */
  wait(jobId: JobId, driver: string): Promise<void>;
  /** Tells the driver at the end of the job's moment; at once if there is none. */
  orAtOnce(jobId: JobId, tell: () => void): void;
  /** Something of this job leaves for its driver and waits for nothing. Of other jobs of that driver goes along what nodes said. */
  end(jobId: JobId, driver: string | undefined): void;
}

/** A quick node near by has answered by then. Whoever waits to hear that the job has left hardly notices. */
export const FIRST_WORDS_MS = 2;

interface Moment {
  readonly driver: string;
  /** What waits to be told. */
  readonly words: (() => void)[];
  readonly over: () => void;
  readonly cancel: Cancel;
}

export function createFirstWords(deps: { clock: Clock }): FirstWords {
  /** As many as messages are being handled, at most. */
  const moments = new Map<JobId, Moment>();

  function close(jobId: JobId): void {
    const moment = moments.get(jobId);
    if (moment === undefined) return;
    moments.delete(jobId);
    moment.cancel();
    for (const tell of moment.words) tell();
    moment.over();
  }

  function end(jobId: JobId, driver: string | undefined): void {
    close(jobId);
    for (const [other, moment] of moments)
      if (moment.driver === driver && moment.words.length > 0) close(other);
  }

  return {
    end,
    wait: (jobId, driver) =>
      new Promise((over) => {
        // Messages of one job are handled one at a time; should two wait after all, the former has waited long enough.
        close(jobId);
        const cancel = deps.clock.after(FIRST_WORDS_MS, () => end(jobId, driver));
        moments.set(jobId, { driver, words: [], over, cancel });
      }),
    orAtOnce(jobId, tell) {
      const moment = moments.get(jobId);
      if (moment === undefined) tell();
      else moment.words.push(tell);
    },
  };
}
