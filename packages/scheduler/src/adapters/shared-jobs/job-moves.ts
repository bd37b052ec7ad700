/** Hot path: moves of the jobs this instance drives, written now or owed for a moment, and what their answers mean for what is counted here. */

import type { JobId } from '../../domain/ids.ts';
import { isSettled, type JobRecord } from '../../domain/job.ts';
import type { JobChange } from '../../domain/job-change.ts';
import { fitResult } from '../../domain/job-spec.ts';
import type { MaybePromise } from '../../domain/maybe-promise.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Expected, MoveResult } from '../../ports/job-store.ts';
import type { JobIndex } from './job-index.ts';
import type { Moved, MoveJob, StoredJob } from './job-scripts.ts';
import type { JobTally } from './job-tally.ts';
import type { KnownJobs } from './known-jobs.ts';
import {
  both,
  createOwedMoves,
  expectedOf,
  isAsExpected,
  type OwedMove,
  type OwedMoves,
  restOf,
} from './owed-moves.ts';

export interface JobMoves {
  readonly owed: OwedMoves;
  move(
    driver: string,
    jobId: JobId,
    expected: Expected,
    change: JobChange,
    when: 'now' | 'soon',
  ): MaybePromise<MoveResult>;
  /** In another's name: what is counted here stays as it is. */
  moveFor(driver: string, jobId: JobId, expected: Expected, change: JobChange): Promise<MoveResult>;
  watchersOf(record: JobRecord): readonly string[];
  onWritten(listen: (job: JobRecord) => void): void;
}

export function createJobMoves(deps: {
  clock: Clock;
  known: KnownJobs;
  tally: JobTally;
  index: JobIndex;
  write: MoveJob;
  /** Lets a settled record go before its time. */
  drop: (jobId: JobId) => Promise<unknown>;
  /** By this incarnation, from one that was gone. */
  isTakenOver: (jobId: JobId) => boolean;
  restore: (job: JobRecord) => Promise<'restored' | 'kept' | 'driven_elsewhere'>;
  resultInlineMaxBytes: number;
  onAudioDropped?: (() => void) | undefined;
}): JobMoves {
  const { known, tally, index } = deps;
  const owed = createOwedMoves({ clock: deps.clock, known, write: writeOwed });
  const watchers = new WeakMap<JobRecord, readonly string[]>();
  let written: (job: JobRecord) => void = () => {};

  const write: MoveJob = (driver, jobId, expected, change, seen) =>
    deps.isTakenOver(jobId)
      ? writeTakenOver(driver, jobId, expected, change, seen)
      : deps.write(driver, jobId, expected, change, seen);

  /** That it is another's may be what a failover left of a job that was taken over from that one. */
  async function writeTakenOver(...move: Parameters<MoveJob>): Promise<Moved> {
    const [, jobId] = move;
    const moved = await deps.write(...move);
    const newest = known.get(jobId)?.record;
    if (moved.kind !== 'driven_elsewhere' || newest === undefined) return moved;
    return (await deps.restore(newest)) === 'driven_elsewhere' ? moved : deps.write(...move);
  }

  /** What a record that is settled means for what is counted here. */
  function settled(record: JobRecord, bytes: number): void {
    const hasFailed = record.state === 'FAILED' || record.failure !== undefined;
    const isBound = record.requestId !== undefined && !hasFailed;
    const gone = tally.settle(record.jobId, { bytes, isBound });
    if (gone === undefined) return;
    index.end(record.jobId, record.deadlineAt);
    for (const jobId of gone) {
      index.drop(jobId);
      // One that stays, because the store does not answer, ends with its time.
      deps.drop(jobId).catch(() => {});
    }
  }

  function fitted(change: JobChange): JobChange {
    if (change.result === undefined) return change;
    const result = fitResult(change.result, deps.resultInlineMaxBytes);
    if (result === change.result) return change;
    deps.onAudioDropped?.();
    return { ...change, result };
  }

  function noteWatchers({ record, watchers: names }: Pick<StoredJob, 'record' | 'watchers'>): void {
    if (names.length > 0) watchers.set(record, names);
  }

  function noteMoved(jobId: JobId, moved: Moved): MoveResult {
    if (moved.kind === 'unknown_job' || moved.kind === 'driven_elsewhere') {
      known.forget(jobId);
      tally.leave(jobId);
      return moved;
    }
    const { kind, record, revision } = moved;
    noteWatchers(moved);
    if (record.state === 'RELEASED') known.forget(jobId);
    // What a failover rolled back is not known better for it: only the newer record says how to restore it.
    else if (kind === 'moved' || revision >= (known.get(jobId)?.revision ?? 0)) known.note(record, revision);
    if (isSettled(record.state)) {
      if (kind === 'moved') settled(record, moved.bytes);
      else tally.leave(jobId);
    }
    return { kind, job: record };
  }

  /**
   * What is owed may have been written in part: by whoever holds the node's socket, or by a try that did not answer. Then the rest of
   * it goes on from there.
   */
  async function writeOn(jobId: JobId, { driver, expected, change, base }: OwedMove): Promise<Moved> {
    const moved = await write(driver, jobId, expected, change, base);
    const rest = moved.kind === 'stale' ? restOf(change, moved.record) : undefined;
    if (moved.kind !== 'stale' || rest === undefined) return moved;
    const { record, revision } = moved;
    return write(driver, jobId, expectedOf(record), rest, { record, revision });
  }

  /** With what is owed of the job, as one move. */
  function moveNow(driver: string, jobId: JobId, expected: Expected, change: JobChange): Promise<MoveResult> {
    const seen = known.get(jobId);
    // Whoever does not know what is owed goes on from something else, and is told so: what is owed goes ahead of it.
    if (seen === undefined || !isAsExpected(seen.record, expected)) void owed.flush(jobId);
    const before = owed.take(jobId);
    const moving =
      before === undefined
        ? write(driver, jobId, expected, change, seen)
        : writeOn(jobId, { ...before, change: both(before.change, change) });
    return moving.then(
      (moved) => noteMoved(jobId, moved),
      (fault: unknown) => {
        if (before !== undefined) owed.giveBack(jobId, before);
        throw fault;
      },
    );
  }

  async function writeOwed(jobId: JobId, move: OwedMove): Promise<boolean> {
    let moved: Moved;
    try {
      moved = await writeOn(jobId, move);
    } catch {
      return false;
    }
    if (moved.kind !== 'moved') {
      noteMoved(jobId, moved);
      return true;
    }
    noteWatchers(moved);
    // Unless the job was moved on from here since.
    if (moved.revision >= (known.get(jobId)?.revision ?? Number.POSITIVE_INFINITY)) noteMoved(jobId, moved);
    if (moved.watchers.length > 0) written(moved.record);
    return true;
  }

  return {
    owed,
    move(driver, jobId, expected, change, when) {
      if (when === 'soon' && tally.isInFlight(jobId)) {
        const job = owed.owe(driver, jobId, expected, change);
        if (job !== undefined) return { kind: 'moved', job };
      }
      return moveNow(driver, jobId, expected, fitted(change));
    },
    async moveFor(driver, jobId, expected, change) {
      const moved = await write(driver, jobId, expected, fitted(change), undefined);
      if (moved.kind === 'unknown_job' || moved.kind === 'driven_elsewhere') return moved;
      noteWatchers(moved);
      return { kind: moved.kind, job: moved.record };
    },
    watchersOf: (record) => watchers.get(record) ?? NOBODY,
    onWritten(listen) {
      written = listen;
    },
  };
}

const NOBODY: readonly string[] = [];
