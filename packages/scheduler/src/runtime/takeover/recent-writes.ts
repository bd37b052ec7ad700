/**
 * Hot path: what this instance wrote recently, so that it can be written again if a failover of Redis loses it: outcomes of jobs, and
 * leases that were released or abandoned. Bounded by time, count and bytes.
 */
import type { JobId, NodeId } from '../../domain/ids.ts';
import type { JobRecord } from '../../domain/job.ts';
import type { LeaseId } from '../../domain/lease.ts';
import type { RecentLease, ReplaySnapshot } from '../../domain/replay-snapshot.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Timer, TimerWheel } from '../attempts/timer-wheel.ts';

export interface RecentWrites {
  /** The newest record of a settled job. A record noted before is replaced, and its time goes on. */
  settled(job: JobRecord): void;
  /** Another instance drives the job. */
  forget(jobId: JobId): void;
  released(nodeId: NodeId, lease: LeaseId): void;
  /** `endsAt`: when the lease ends at the latest. */
  abandoned(nodeId: NodeId, lease: LeaseId, endsAt: number | undefined): void;
  clear(): void;
  all(): Pick<ReplaySnapshot, 'settled' | 'released' | 'abandoned'>;
}

interface Limits {
  readonly clock: Clock;
  /** Longer than the time from a lost write to the replay. */
  readonly keepMs: number;
  readonly maxCount: number;
}

export function createRecentWrites(
  deps: Limits & { readonly wheel: TimerWheel; readonly maxBytes: number },
): RecentWrites {
  const outcomes = createRecentOutcomes(deps);
  const released = createRecentLeases(deps);
  const abandoned = createRecentLeases(deps);
  return {
    settled: outcomes.note,
    forget: outcomes.forget,
    released: (nodeId, lease) => released.note({ nodeId, lease, endsAt: undefined }),
    abandoned: (nodeId, lease, endsAt) => abandoned.note({ nodeId, lease, endsAt }),
    clear() {
      outcomes.clear();
      released.clear();
      abandoned.clear();
    },
    all: () => ({ settled: outcomes.all(), released: released.all(), abandoned: abandoned.all() }),
  };
}

/** Two maps: the newer one is filled, and after `keepMs` the older one is dropped, so that no entry needs its own age. */
function createRecentLeases({ clock, keepMs, maxCount }: Limits) {
  let older = new Map<LeaseId, RecentLease>();
  let newer = new Map<LeaseId, RecentLease>();
  let begunAt = clock.now();

  function turn(now: number): void {
    const age = now - begunAt;
    if (age < keepMs && newer.size < maxCount / 2) return;
    older = age < 2 * keepMs ? newer : new Map();
    newer = new Map();
    begunAt = now;
  }

  return {
    note(one: RecentLease): void {
      turn(clock.now());
      newer.set(one.lease, one);
    },
    clear(): void {
      older = new Map();
      newer = new Map();
    },
    all(): readonly RecentLease[] {
      turn(clock.now());
      return [...older.values(), ...newer.values()];
    },
  };
}

interface Kept {
  job: JobRecord;
  readonly until: number;
  readonly bytes: number;
}

function createRecentOutcomes(deps: Limits & { readonly wheel: TimerWheel; readonly maxBytes: number }) {
  const { clock, wheel, keepMs } = deps;
  const kept = new Map<JobId, Kept>();
  let bytes = 0;
  let pruning: Timer | undefined;

  function forget(jobId: JobId): void {
    const one = kept.get(jobId);
    if (one === undefined) return;
    kept.delete(jobId);
    bytes -= one.bytes;
  }

  function prune(): void {
    pruning = undefined;
    const now = clock.now();
    for (const [jobId, { until }] of kept) {
      if (until > now) {
        pruning = wheel.setAt(until, prune, undefined);
        return;
      }
      forget(jobId);
    }
  }

  function makeRoom(): void {
    for (const jobId of kept.keys()) {
      if (kept.size <= deps.maxCount && bytes <= deps.maxBytes) return;
      forget(jobId);
    }
  }

  return {
    note(job: JobRecord): void {
      const known = kept.get(job.jobId);
      if (known !== undefined) {
        known.job = job;
        return;
      }
      const one = { job, until: clock.now() + keepMs, bytes: bytesOf(job) };
      kept.set(job.jobId, one);
      bytes += one.bytes;
      makeRoom();
      pruning ??= wheel.setAt(one.until, prune, undefined);
    },
    forget,
    clear(): void {
      kept.clear();
      bytes = 0;
      pruning?.cancel();
      pruning = undefined;
    },
    all: (): readonly JobRecord[] => Array.from(kept.values(), ({ job }) => job),
  };
}

/** The texts and the speech of the result make the difference between records. */
const bytesOf = ({ result }: JobRecord): number =>
  RECORD_BYTES +
  (result === undefined
    ? 0
    : result.ttsAudio.length + 2 * (result.textAsr.length + result.textTranslated.length));

const RECORD_BYTES = 2_000;
