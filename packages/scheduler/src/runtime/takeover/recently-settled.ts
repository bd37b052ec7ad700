/** Hot path: outcomes this instance wrote a moment ago, for a store that loses them in a failover. Bounded by time, count and bytes. */
import type { JobId } from '../../domain/ids.ts';
import type { JobRecord } from '../../domain/job.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Timer, TimerWheel } from '../attempts/timer-wheel.ts';

export interface RecentlySettled {
  /** Its newest record; one noted before is replaced, and its time goes on. */
  note(job: JobRecord): void;
  /** Another instance drives it by now. */
  forget(jobId: JobId): void;
  clear(): void;
  /** Oldest first. */
  all(): Iterable<JobRecord>;
}

interface Kept {
  job: JobRecord;
  readonly until: number;
  readonly bytes: number;
}

export function createRecentlySettled(deps: {
  clock: Clock;
  wheel: TimerWheel;
  /** As long as it may take until a store that lost writes is told again. */
  keepMs: number;
  maxCount: number;
  maxBytes: number;
}): RecentlySettled {
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
    note(job) {
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
    clear() {
      kept.clear();
      bytes = 0;
      pruning?.cancel();
      pruning = undefined;
    },
    *all() {
      for (const { job } of kept.values()) yield job;
    },
  };
}

/** What makes records differ: the speech and the text of the result. */
const bytesOf = ({ result }: JobRecord): number =>
  RECORD_BYTES +
  (result === undefined
    ? 0
    : result.ttsAudio.length + 2 * (result.textAsr.length + result.textTranslated.length));

const RECORD_BYTES = 2_000;
