/**
 * Hot path: which jobs this instance drives and which it settled recently, in two indexes in its own hash slot.
 *
 * A job that begins is written at once, because the instance that takes over reads the index; jobs that begin in one turn of the
 * event loop share a command. The end of a job may wait: until it is written the job is still listed as driven. So ends are
 * written together with the next beginning, or by their own timer.
 */
import type { JobId } from '../../domain/ids.ts';
import type { Cancel, Clock } from '../../ports/clock.ts';
import type { IndexChanges } from './job-scripts.ts';

export interface JobIndex {
  begin(jobId: JobId, deadlineAt: number): Promise<void>;
  end(jobId: JobId, deadlineAt: number): void;
  drop(jobId: JobId): void;
  /** Writes the ends that wait. */
  flush(): Promise<void>;
}

/** How long ends wait for a job that begins, and after a failed write. */
const LATER_MS = 1_000;
/** A script must not block its server for long. */
const MOST_AT_ONCE = 128;
/** Ends that may wait while Redis does not answer. Further ones are dropped: the indexes expire entries by their deadline. */
const MOST_WAITING = 20_000;

interface Ends {
  readonly ended: Map<JobId, number>;
  readonly dropped: Set<JobId>;
}

export function createJobIndex(deps: {
  clock: Clock;
  /** Resolves at the end of this turn of the event loop. */
  endOfTurn: () => Promise<void>;
  write: (changes: IndexChanges, now: number) => Promise<void>;
}): JobIndex {
  const ended = new Map<JobId, number>();
  const dropped = new Set<JobId>();
  let begun = new Map<JobId, number>();
  let beginning: Promise<void> | undefined;
  /** Ends in commands that are under way. */
  const sending = new Set<Ends>();
  let cancel: Cancel | undefined;

  const waiting = (): number => ended.size + dropped.size;
  const hasRoom = (): boolean => waiting() < MOST_WAITING;

  /** Ends for the next command. They are removed here, so that two commands do not write the same end. */
  function takeSome(): Ends {
    const some = { ended: new Map(first(ended)), dropped: new Set(first(dropped)) };
    for (const jobId of some.ended.keys()) ended.delete(jobId);
    for (const jobId of some.dropped) dropped.delete(jobId);
    return some;
  }

  function putBack(some: Ends): void {
    for (const [jobId, deadlineAt] of some.ended) if (hasRoom()) ended.set(jobId, deadlineAt);
    for (const jobId of some.dropped) if (hasRoom()) dropped.add(jobId);
  }

  async function write(beginning: ReadonlyMap<JobId, number>): Promise<void> {
    const ends = takeSome();
    sending.add(ends);
    writeLater();
    try {
      await deps.write({ begun: beginning, ...ends }, deps.clock.now());
    } catch (fault) {
      sending.delete(ends);
      putBack(ends);
      writeLater();
      throw fault;
    }
    sending.delete(ends);
    // Ends that an outage has left are written without a pause, as long as Redis accepts them.
    if (waiting() >= MOST_AT_ONCE) writeEnds();
  }

  /** All jobs that began in this turn. Their callers see a fault of the write. */
  async function writeBegun(): Promise<void> {
    const all = [...begun];
    begun = new Map();
    beginning = undefined;
    const writes: Promise<void>[] = [];
    for (let from = 0; from < all.length; from += MOST_AT_ONCE) {
      writes.push(write(new Map(all.slice(from, from + MOST_AT_ONCE))));
    }
    await Promise.all(writes);
  }

  // After a fault the ends wait again, and the timer runs: callers are not affected.
  const writeEnds = (): void => void write(NONE).catch(() => {});

  /** Restarts the timer for the ends that wait now. */
  function writeLater(): void {
    cancel?.();
    cancel = waiting() === 0 ? undefined : deps.clock.after(LATER_MS, writeEnds);
  }

  function note(): void {
    if (waiting() === MOST_AT_ONCE) writeEnds();
    else if (cancel === undefined) writeLater();
  }

  return {
    begin(jobId, deadlineAt) {
      for (const ends of [{ ended, dropped }, ...sending]) {
        ends.ended.delete(jobId);
        ends.dropped.delete(jobId);
      }
      begun.set(jobId, deadlineAt);
      beginning ??= deps.endOfTurn().then(writeBegun);
      return beginning;
    },
    end(jobId, deadlineAt) {
      if (!hasRoom() || ended.has(jobId)) return;
      ended.set(jobId, deadlineAt);
      note();
    },
    drop(jobId) {
      if (!hasRoom()) return;
      ended.delete(jobId);
      dropped.add(jobId);
      note();
    },
    async flush() {
      try {
        while (waiting() > 0) await write(NONE);
      } finally {
        cancel?.();
        cancel = undefined;
      }
    },
  };
}

const NONE: ReadonlyMap<JobId, number> = new Map();

function* first<T>(all: Iterable<T>): Iterable<T> {
  let count = 0;
  for (const each of all) {
    if (count === MOST_AT_ONCE) return;
    count += 1;
    yield each;
  }
}
