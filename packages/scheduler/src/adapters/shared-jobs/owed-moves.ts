/**
 * Hot path: moves that others may see a moment later. They are answered from what this instance knows, and written with the next
 * move of their job or after a moment, whichever comes first: of a job that is quick, all that happens at its node is one write.
 *
 * Nothing is lost that a crash would not have lost a moment earlier, and nobody is deceived: a write that failed is made again, with
 * what came since; it compares as every move does, and what it finds is the answer to the job's next move.
 */
import type { JobId } from '../../domain/ids.ts';
import type { JobRecord } from '../../domain/job.ts';
import { changeJob, entriesOf, type JobChange } from '../../domain/job-change.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Expected } from '../../ports/job-store.ts';
import { createDueLane } from './due-lane.ts';
import type { KnownJob, KnownJobs } from './known-jobs.ts';

/** All that is owed of one job, as one move. */
export interface OwedMove {
  readonly driver: string;
  readonly expected: Expected;
  readonly change: JobChange;
  /** The record as it is written, if nobody else moved it. */
  readonly base: KnownJob;
}

export interface OwedMoves {
  /** The record after the change. Undefined: too little is known of the job to answer, so it has to be asked. */
  owe(driver: string, jobId: JobId, expected: Expected, change: JobChange): JobRecord | undefined;
  /** What is owed goes along with this move, or is given back if that leaves open whether it was written. */
  take(jobId: JobId): OwedMove | undefined;
  giveBack(jobId: JobId, move: OwedMove): void;
  /** It was written otherwise, or is not ours to write. */
  forget(jobId: JobId): void;
  /** Writes all of it now, or what is owed of one job. */
  flush(jobId?: JobId): Promise<void>;
}

/** As long as a node near by takes to acknowledge, and far less than it takes to notice that an instance is gone. */
export const SOON_MS = 20;
const AGAIN_MS = 250;

export function createOwedMoves(deps: {
  clock: Clock;
  known: KnownJobs;
  /** Never rejects; `false`: it is open whether it was written. */
  write: (jobId: JobId, move: OwedMove) => Promise<boolean>;
}): OwedMoves {
  const { clock, known } = deps;
  const owed = new Map<JobId, OwedMove>();
  /** What is on its way, by itself and not with another move. */
  const writing = new Set<JobId>();
  const soon = createDueLane(clock, SOON_MS, due);
  // Apart: those who wait for a sick shard must not keep the others.
  const again = createDueLane(clock, AGAIN_MS, due);

  function take(jobId: JobId): OwedMove | undefined {
    const move = owed.get(jobId);
    owed.delete(jobId);
    return move;
  }

  /** Unless something else has moved the job since: then that is what counts. */
  function giveBack(jobId: JobId, move: OwedMove, lane = soon): void {
    const revision = move.base.revision + entriesOf(move.change);
    const later = owed.get(jobId);
    if (later === undefined) {
      if (known.get(jobId)?.revision !== revision) return;
      owed.set(jobId, move);
      lane.put(jobId);
    } else if (later.base.revision === revision) {
      // It goes on from what may never have been written.
      owed.set(jobId, { ...move, change: both(move.change, later.change) });
    }
  }

  async function writeNow(jobId: JobId): Promise<void> {
    const move = take(jobId);
    if (move === undefined) return;
    writing.add(jobId);
    const isWritten = await deps.write(jobId, move);
    writing.delete(jobId);
    if (!isWritten) giveBack(jobId, move, again);
  }

  /** One after the other: should the first not arrive, the second could not go on from it. */
  function due(jobId: JobId): void {
    if (writing.has(jobId)) soon.put(jobId);
    else void writeNow(jobId);
  }

  return {
    owe(driver, jobId, expected, change) {
      const seen = known.get(jobId);
      if (seen === undefined || !isAsExpected(seen.record, expected)) return undefined;
      const before = owed.get(jobId);
      const record = changeJob(seen.record, change);
      known.note(record, seen.revision + entriesOf(change));
      // It stays due when it was.
      if (before !== undefined) owed.set(jobId, { ...before, change: both(before.change, change) });
      else {
        owed.set(jobId, { driver, expected, change, base: seen });
        soon.put(jobId);
      }
      return record;
    },
    take,
    giveBack: (jobId, move) => giveBack(jobId, move),
    forget: (jobId) => void take(jobId),
    async flush(jobId) {
      if (jobId !== undefined) return writeNow(jobId);
      await Promise.all([...owed.keys()].map(writeNow));
      soon.clear();
      again.clear();
    },
  };
}

export const isAsExpected = ({ state, fence }: JobRecord, expected: Expected): boolean =>
  state === expected.state && (fence?.attempt ?? 0) === expected.fenceAttempt;

export const expectedOf = ({ state, fence }: JobRecord): Expected => ({
  state,
  fenceAttempt: fence?.attempt ?? 0,
});

/** What is left of a change for a record that it passes through. Undefined: nothing, or it does not. */
export function restOf(change: JobChange, record: JobRecord): JobChange | undefined {
  const { state, fenceAttempt } = expectedOf(record);
  const entries = [...(change.passing ?? []), change.entry];
  const reached = entries.findLastIndex((entry) => entry.state === state && entry.attempt === fenceAttempt);
  const entry = entries.at(-1);
  if (reached < 0 || reached === entries.length - 1 || entry === undefined) return undefined;
  return { ...change, passing: entries.slice(reached + 1, -1), entry };
}

/** One change that does what the two do. */
export function both(first: JobChange, second: JobChange): JobChange {
  return {
    state: second.state,
    fence: second.fence ?? first.fence,
    intent: second.intent === undefined ? first.intent : second.intent,
    entry: second.entry,
    passing: [...(first.passing ?? []), first.entry, ...(second.passing ?? [])],
    failure: second.failure ?? first.failure,
    result: second.result ?? first.result,
  };
}
