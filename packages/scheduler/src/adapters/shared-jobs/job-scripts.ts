/**
 * What a store of many does to jobs, each of it whole and at once: the records on one side, the indexes of each instance on the other.
 * Redis has a Lua script or a command for each. Rejects with SCHEDULER_DEPENDENCY_DOWN: then it is *unknown* whether it happened.
 */
import type { JobId } from '../../domain/ids.ts';
import type { JobRecord } from '../../domain/job.ts';
import type { JobChange } from '../../domain/job-change.ts';
import type { Expected } from '../../ports/job-store.ts';
import type { KnownJob } from './known-jobs.ts';
import type { Position, ReadIndex } from './list-jobs.ts';

export interface StoredJob {
  readonly record: JobRecord;
  /** Grows with every move. */
  readonly revision: number;
  readonly driver: string;
  readonly watchers: readonly string[];
}

export type Admitted =
  | { readonly kind: 'admitted' }
  | { readonly kind: 'existing'; readonly stored: StoredJob }
  | { readonly kind: 'over'; readonly jobId: JobId };

export type Moved =
  | ({
      readonly kind: 'moved' | 'stale';
      /** What the change carries from outside, as written. */
      readonly bytes: number;
    } & Omit<StoredJob, 'driver'>)
  | { readonly kind: 'unknown_job' }
  | { readonly kind: 'driven_elsewhere' };

export type MoveJob = (
  driver: string,
  jobId: JobId,
  expected: Expected,
  change: JobChange,
  known: KnownJob | undefined,
) => Promise<Moved>;

export type Discarded = 'discarded' | 'kept' | 'driven_elsewhere' | 'unknown_job';

/** Whose jobs may be taken: the instance's, except those of its incarnation that lives. */
export interface FormerDriver {
  readonly instanceId: string;
  /** Absent when none of it lives. */
  readonly livingIncarnation?: string;
}

export type TakenOver =
  /** `lifeMs`: how long its record still lasts, by the store's clock. `former`: who drove it until now. */
  | { readonly kind: 'taken'; readonly stored: StoredJob; readonly lifeMs: number; readonly former: string }
  | { readonly kind: 'driven'; readonly driver: string }
  | { readonly kind: 'settled' | 'unknown_job' };

export type Restored =
  | { readonly kind: 'restored' | 'kept' | 'bound_anew' }
  | { readonly kind: 'driven_elsewhere'; readonly driver: string }
  | { readonly kind: 'over'; readonly jobId: JobId };

/** What is left of a settled job's time. */
export interface TimeLeft {
  readonly retentionMs: number;
  readonly leaseMs: number;
}

/** `lifeMs`: how long a record lasts that nobody settles. A span, because clocks may differ by more than a job lasts. */
export interface RecordScripts {
  admit(draft: JobRecord, by: { driver: string; lifeMs: number }): Promise<Admitted>;
  readonly move: MoveJob;
  discard(jobId: JobId, driver: string): Promise<Discarded>;
  read(jobId: JobId): Promise<StoredJob | undefined>;
  findBound(tag: string): Promise<StoredJob | undefined>;
  /** Puts a job that is no longer bound aside, where its id still finds it. */
  shelve(jobId: JobId): Promise<unknown>;
  unbind(jobId: JobId): Promise<unknown>;
  /** Lets a settled record go before its time. */
  drop(jobId: JobId): Promise<unknown>;
  /** Nothing if the job is unknown, or still as it was at `revision`. */
  watch(jobId: JobId, revision: number): Promise<StoredJob | undefined>;
  driverOf(jobId: JobId): Promise<{ readonly driver: string; readonly isSettled: boolean } | undefined>;
  takeOver(jobId: JobId, from: FormerDriver, to: string): Promise<TakenOver>;
  /** `left`: absent while it lives. `former`: whom the driver took it over from, which may have been lost, too. */
  restore(
    job: JobRecord,
    by: {
      readonly driver: string;
      readonly former: string | undefined;
      readonly revision: number;
      readonly lifeMs: number;
      readonly left: TimeLeft | undefined;
    },
  ): Promise<Restored>;
}

/** Jobs and their deadlines. */
export interface IndexChanges {
  readonly begun: ReadonlyMap<JobId, number>;
  readonly ended: ReadonlyMap<JobId, number>;
  readonly dropped: ReadonlySet<JobId>;
}

export interface IndexScripts {
  /** In the indexes of this instance. `now`: by its clock, as deadlines are. */
  note(changes: IndexChanges, now: number): Promise<void>;
  /** Jobs of an instance that may be live, next deadlines first. */
  driven(instanceId: string, limit: number): Promise<readonly Position[]>;
  /** What an instance settled lately, latest deadlines first. */
  settled(instanceId: string, skip: number, count: number): Promise<readonly Position[]>;
  leave(instanceId: string, jobId: JobId): Promise<unknown>;
  forget(instanceId: string): Promise<boolean>;
  /** Those of every instance that is known, and of this one. */
  all(): Promise<readonly ReadIndex[]>;
}
