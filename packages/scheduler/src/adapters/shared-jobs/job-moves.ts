/** Hot path: moves of the jobs that this instance drives, and the effect of the store's answers on the local counts. */
import type { BoundedMap } from '../../domain/bounded-map.ts';
import type { JobId } from '../../domain/ids.ts';
import { isSettled, type JobRecord } from '../../domain/job.ts';
import type { JobChange } from '../../domain/job-change.ts';
import { fitResult } from '../../domain/job-spec.ts';
import type { UsageSink } from '../../domain/usage.ts';
import type { Expected, MoveResult } from '../../ports/job-store.ts';
import type { JobIndex } from './job-index.ts';
import type { KnownJob, Moved, MoveJob } from './job-scripts.ts';
import type { JobTally } from './job-tally.ts';

export interface JobMoves {
  move(driver: string, jobId: JobId, expected: Expected, change: JobChange): Promise<MoveResult>;
  watchersOf(record: JobRecord): readonly string[];
}

export function createJobMoves(deps: {
  known: BoundedMap<JobId, KnownJob>;
  tally: JobTally;
  index: JobIndex;
  write: MoveJob;
  /** Deletes a settled record before its retention ends. */
  drop: (jobId: JobId) => Promise<unknown>;
  /** This incarnation took the job over from a dead driver. */
  isTakenOver: (jobId: JobId) => boolean;
  restore: (job: JobRecord) => Promise<'restored' | 'kept' | 'driven_elsewhere'>;
  usage?: UsageSink | undefined;
  resultInlineMaxBytes: number;
  onAudioDropped?: (() => void) | undefined;
}): JobMoves {
  const { known, tally, index } = deps;
  const watchers = new WeakMap<JobRecord, readonly string[]>();

  /** `driven_elsewhere` of a job that was taken over may mean that a failover lost the takeover: it is restored, and moved again. */
  async function writeTakenOver(...move: Parameters<MoveJob>): Promise<Moved> {
    const [, jobId] = move;
    const moved = await deps.write(...move);
    const newest = known.get(jobId)?.record;
    if (moved.kind !== 'driven_elsewhere' || newest === undefined) return moved;
    return (await deps.restore(newest)) === 'driven_elsewhere' ? moved : deps.write(...move);
  }

  /** The job stays in the index until its usage is written: if this instance dies before, the one that takes over counts it. */
  function endCounted({ jobId, tenantId, deadlineAt, usage }: JobRecord): void {
    const end = (): void => index.end(jobId, deadlineAt);
    if (usage === undefined || deps.usage === undefined) end();
    else deps.usage.count(tenantId, { jobId, usage }, end);
  }

  /** Counts a settled record, and drops those that exceed the limits. */
  function settled(record: JobRecord, bytes: number): void {
    const hasFailed = record.state === 'FAILED' || record.failure !== undefined;
    const isBound = record.requestId !== undefined && !hasFailed;
    const dropped = tally.settle(record.jobId, { tenantId: record.tenantId, bytes, isBound });
    if (dropped === undefined) return;
    endCounted(record);
    for (const jobId of dropped) {
      index.drop(jobId);
      // If the store does not answer, the record stays until its retention ends.
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

  function noteMoved(jobId: JobId, moved: Moved): MoveResult {
    if (moved.kind === 'unknown_job' || moved.kind === 'driven_elsewhere') {
      known.delete(jobId);
      tally.leave(jobId);
      return moved;
    }
    const { kind, record, revision } = moved;
    if (moved.watchers.length > 0) watchers.set(record, moved.watchers);
    if (record.state === 'RELEASED') known.delete(jobId);
    // A failover may have rolled the record back: then the newer one is needed to restore it.
    else if (kind === 'moved' || revision >= (known.get(jobId)?.revision ?? 0))
      known.set(jobId, { record, revision });
    if (isSettled(record.state)) {
      if (kind === 'moved') settled(record, moved.bytes);
      else {
        tally.leave(jobId);
        // The store had made this move before, and its answer was lost.
        if (record.usage !== undefined) endCounted(record);
      }
    }
    return { kind, job: record };
  }

  return {
    move(driver, jobId, expected, change) {
      const write = deps.isTakenOver(jobId) ? writeTakenOver : deps.write;
      const moving = write(driver, jobId, expected, fitted(change), known.get(jobId));
      return moving.then((moved) => noteMoved(jobId, moved));
    },
    watchersOf: (record) => watchers.get(record) ?? NO_WATCHERS,
  };
}

const NO_WATCHERS: readonly string[] = [];
