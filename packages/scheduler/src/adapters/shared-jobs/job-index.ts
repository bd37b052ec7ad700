/**
 * Hot path: which jobs this instance drives and which it settled lately, in two indexes of its own slot.
 *
 * A job that begins is written at once, for whoever may have to adopt it; those that begin in one turn of the event loop are
 * written together. What ended can wait: until then the job is found in the index of driven ones. So it goes along with the next
 * that begins, or with what else is written in the slot, or by itself after a while.
 */
import type { JobId } from '../../domain/ids.ts';
import type { Cancel, Clock } from '../../ports/clock.ts';
import type { EndedJobs, IndexChanges } from './job-scripts.ts';

export interface JobIndex {
  begin(jobId: JobId, deadlineAt: number): Promise<void>;
  end(jobId: JobId, deadlineAt: number): void;
  drop(jobId: JobId): void;
  /** Some of what ended or was dropped, for whoever writes something in the same slot anyway. */
  goAlong(): EndedJobs | undefined;
  /** Writes what is left. */
  flush(): Promise<void>;
}

/** Far longer than a busy instance waits for its next job, and any for something to go along with; past that an index says more than is true for no good reason. */
const LATER_MS = 10_000;
const AFTER_A_FAULT_MS = 1_000;
/** A script must not keep its server for long. */
const MOST_AT_ONCE = 128;
/** What a store that does not answer may leave here. Past that it is forgotten: the indexes clean themselves by time. */
const MOST_WAITING = 20_000;

export function createJobIndex(deps: {
  clock: Clock;
  /** Resolves when whatever happens now has happened. */
  endOfTurn: () => Promise<void>;
  write: (changes: IndexChanges, now: number) => Promise<void>;
}): JobIndex {
  const ended = new Map<JobId, number>();
  const dropped = new Set<JobId>();
  let begun = new Map<JobId, number>();
  let beginning: Promise<void> | undefined;
  /** On their way to the store, which may not take them. */
  const flying = new Set<ReturnType<typeof takeSome>>();
  let cancel: Cancel | undefined;

  /** What goes along now. It is taken out, so that it is not sent twice at a time. */
  function takeSome(): { readonly ended: Map<JobId, number>; readonly dropped: Set<JobId> } {
    const some = { ended: new Map(first(ended)), dropped: new Set(first(dropped)) };
    for (const jobId of some.ended.keys()) ended.delete(jobId);
    for (const jobId of some.dropped) dropped.delete(jobId);
    return some;
  }

  /** What goes along now, and comes back if it does not arrive. */
  function depart(): EndedJobs {
    cancel?.();
    cancel = undefined;
    const some = takeSome();
    later();
    flying.add(some);
    return {
      ...some,
      settle(fault) {
        flying.delete(some);
        if (fault !== undefined) return comeBack(some);
        // What an outage has left goes on, as long as the store takes it.
        if (ended.size + dropped.size >= MOST_AT_ONCE) writeRest();
      },
    };
  }

  function comeBack(some: ReturnType<typeof takeSome>): void {
    for (const [jobId, deadlineAt] of some.ended) if (hasRoom()) ended.set(jobId, deadlineAt);
    for (const jobId of some.dropped) if (hasRoom()) dropped.add(jobId);
    hurry();
  }

  async function write(begun: ReadonlyMap<JobId, number>): Promise<void> {
    const others = depart();
    try {
      await deps.write({ begun, ended: others.ended, dropped: others.dropped }, deps.clock.now());
    } catch (fault) {
      others.settle(fault);
      throw fault;
    }
    others.settle();
  }

  /** All that began since the last time; whoever began any of it hears if that fails. */
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

  const hasRoom = (): boolean => ended.size + dropped.size < MOST_WAITING;

  // It is written again with what comes next, so nobody has to hear of it.
  const writeRest = (): void => void write(NOTHING).catch(() => {});

  function later(delayMs = LATER_MS): void {
    if (ended.size + dropped.size === 0) return;
    cancel ??= deps.clock.after(delayMs, writeRest);
  }

  /** Also if something else was to be written later. */
  function hurry(): void {
    cancel?.();
    cancel = undefined;
    later(AFTER_A_FAULT_MS);
  }

  function note(): void {
    if (ended.size + dropped.size === MOST_AT_ONCE) writeRest();
    else later();
  }

  return {
    begin(jobId, deadlineAt) {
      for (const waiting of [{ ended, dropped }, ...flying]) {
        waiting.ended.delete(jobId);
        waiting.dropped.delete(jobId);
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
    goAlong: () => (ended.size + dropped.size === 0 ? undefined : depart()),
    async flush() {
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
