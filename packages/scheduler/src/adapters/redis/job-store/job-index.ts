/**
 * Hot path: which jobs this instance drives and which it settled lately, in two indexes of its own slot.
 *
 * A job that begins is written at once, for whoever may have to adopt it. What ended can wait: until then the job is found in the
 * index of driven ones. So it goes along with the next that begins, or by itself after a while.
 */
import type { JobId } from '../../../domain/ids.ts';
import type { Cancel, Clock } from '../../../ports/clock.ts';
import type { IndexChanges } from './index-jobs.ts';

export interface JobIndex {
  begin(jobId: JobId, deadlineAt: number): Promise<void>;
  end(jobId: JobId, deadlineAt: number): void;
  drop(jobId: JobId): void;
  /** Writes what is left. */
  close(): Promise<void>;
}

const LATER_MS = 50;
/** A script must not keep its server for long. */
const MOST_AT_ONCE = 128;
/** What a Redis that does not answer may leave here. Past that it is forgotten: the indexes clean themselves by time. */
const MOST_WAITING = 20_000;

export function createJobIndex(deps: {
  clock: Clock;
  write: (changes: IndexChanges) => Promise<void>;
}): JobIndex {
  const ended = new Map<JobId, number>();
  const dropped = new Set<JobId>();
  let cancel: Cancel | undefined;

  /** What goes along now. It is taken out, so that it is not sent twice at a time. */
  function takeSome(): Pick<IndexChanges, 'ended' | 'dropped'> {
    const some = { ended: new Map(first(ended)), dropped: new Set(first(dropped)) };
    for (const jobId of some.ended.keys()) ended.delete(jobId);
    for (const jobId of some.dropped) dropped.delete(jobId);
    return some;
  }

  async function write(begun: ReadonlyMap<JobId, number>): Promise<void> {
    cancel?.();
    cancel = undefined;
    const some = takeSome();
    later();
    try {
      await deps.write({ begun, ...some });
    } catch (fault) {
      for (const [jobId, deadlineAt] of some.ended) if (hasRoom()) ended.set(jobId, deadlineAt);
      for (const jobId of some.dropped) if (hasRoom()) dropped.add(jobId);
      later();
      throw fault;
    }
  }

  const hasRoom = (): boolean => ended.size + dropped.size < MOST_WAITING;

  // It is written again with what comes next, so nobody has to hear of it.
  const writeRest = (): void => void write(NOTHING).catch(() => {});

  function later(): void {
    if (ended.size + dropped.size === 0) return;
    cancel ??= deps.clock.after(LATER_MS, writeRest);
  }

  function note(): void {
    if (ended.size + dropped.size === MOST_AT_ONCE) writeRest();
    else later();
  }

  return {
    begin(jobId, deadlineAt) {
      ended.delete(jobId);
      dropped.delete(jobId);
      return write(new Map([[jobId, deadlineAt]]));
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
    async close() {
      try {
        while (ended.size + dropped.size > 0) await write(NOTHING);
      } finally {
        cancel?.();
        cancel = undefined;
      }
    },
  };
}

const NOTHING: ReadonlyMap<JobId, number> = new Map();

function* first<T>(all: Iterable<T>): Iterable<T> {
  let count = 0;
  for (const each of all) {
    if (count === MOST_AT_ONCE) return;
    count += 1;
    yield each;
  }
}
