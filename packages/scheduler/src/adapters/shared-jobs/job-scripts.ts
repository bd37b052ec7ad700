/**
 * The atomic operations of a shared store on jobs: on the records, and on the indexes of each instance. In Redis each is a Lua script or
 * a command. An operation rejects with SCHEDULER_DEPENDENCY_DOWN if it is *unknown* whether it took effect.
 */
import type { JobId, TenantId } from '../../domain/ids.ts';
import type { JobRecord } from '../../domain/job.ts';
import type { JobChange } from '../../domain/job-change.ts';
import type { Expected } from '../../ports/job-store.ts';
import type { Position, ReadIndex } from './list-jobs.ts';

/** The last known record of a job. If a move finds its revision unchanged, the store answers without the record. */
export interface KnownJob {
  readonly record: JobRecord;
  readonly revision: number;
}

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
      /** Size of the change's data from outside, as written. */
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

/** The instance whose jobs may be taken over, except those of its live incarnation. */
export interface FormerDriver {
  readonly instanceId: string;
  /** Absent if no incarnation of it is alive. */
  readonly livingIncarnation?: string;
}

export type TakenOver =
  /** `ttlMs`: the remaining time of its record, by the store's clock. `former`: its driver until now. */
  | { readonly kind: 'taken'; readonly stored: StoredJob; readonly ttlMs: number; readonly former: string }
  | { readonly kind: 'driven'; readonly driver: string }
  | { readonly kind: 'settled'; readonly record: JobRecord }
  | { readonly kind: 'unknown_job' };

export type Restored =
  | { readonly kind: 'restored' | 'kept' | 'bound_anew' }
  | { readonly kind: 'driven_elsewhere'; readonly driver: string }
  | { readonly kind: 'over'; readonly jobId: JobId };

/** The remaining times of a settled job. */
export interface TimeLeft {
  readonly retentionMs: number;
  readonly leaseMs: number;
}

/** `ttlMs`: how long an unsettled record is kept. A duration, because clocks may differ by more than the duration of a job. */
export interface RecordScripts {
  admit(draft: JobRecord, by: { driver: string; ttlMs: number }): Promise<Admitted>;
  readonly move: MoveJob;
  discard(jobId: JobId, driver: string): Promise<Discarded>;
  read(jobId: JobId): Promise<StoredJob | undefined>;
  findBound(tag: string): Promise<StoredJob | undefined>;
  /** Moves a job that is no longer bound to a second key, where its id still finds it. */
  shelve(jobId: JobId): Promise<unknown>;
  unbind(jobId: JobId): Promise<unknown>;
  /** Removes a settled record before its retention ends. */
  drop(jobId: JobId): Promise<unknown>;
  /** `erased`: the record of a settled job without its texts. It is removed as soon as its request is not bound to it. */
  erase(erased: JobRecord): Promise<'erased' | 'not_settled' | 'unknown_job'>;
  /** Undefined if the job is unknown, or still has that revision. */
  watch(jobId: JobId, revision: number): Promise<StoredJob | undefined>;
  driverOf(jobId: JobId): Promise<{ readonly driver: string; readonly isSettled: boolean } | undefined>;
  takeOver(jobId: JobId, from: FormerDriver, to: string): Promise<TakenOver>;
  /** `left`: absent for an unsettled job. `former`: the driver from which it was taken over; the store may have lost the takeover, too. */
  restore(
    job: JobRecord,
    by: {
      readonly driver: string;
      readonly former: string | undefined;
      readonly revision: number;
      readonly ttlMs: number;
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
  /** Writes to the indexes of this instance. `now`: by its clock, which set the deadlines. */
  note(changes: IndexChanges, now: number): Promise<void>;
  /** Jobs of an instance that may be live, next deadlines first. */
  driven(instanceId: string, limit: number): Promise<readonly Position[]>;
  /** Jobs that an instance settled recently, latest deadlines first. */
  settled(instanceId: string, skip: number, count: number): Promise<readonly Position[]>;
  leave(instanceId: string, jobId: JobId): Promise<unknown>;
  forget(instanceId: string): Promise<boolean>;
  /** The indexes of every known instance, including this one. */
  all(): Promise<readonly ReadIndex[]>;
}

/** A job id and its request share a record: the id of a bound job is "job-<digest of tenant and request>-<random>". */
const BOUND = /^job-[A-Za-z0-9_-]{22}-/;
const [FROM, TO] = ['job-'.length, 'job-'.length + 22];

/** The digest of its request, or the id of a job without one. Keys with the same tag are in one hash slot. */
export const jobTag = (jobId: JobId): string => (BOUND.test(jobId) ? jobId.slice(FROM, TO) : jobId);

export const requestTag = (digest: (text: string) => string, tenantId: TenantId, requestId: string): string =>
  digest(`${tenantId}\n${requestId}`);
