/**
 * Background actor: writes what accepted results have used, many jobs of a tenant with one call.
 *
 * The caller keeps a job in the index of its driver until it is written. So if this instance dies first, the instance that takes over finds
 * the job and counts it; the store counts each job once.
 */
import type { JobId, TenantId } from '../../domain/ids.ts';
import type { CountedJob, StageUsage, UsageSink } from '../../domain/usage.ts';
import type { Cancel, Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import type { Meter } from '../../ports/meter.ts';
import type { UsageStore } from '../../ports/usage-store.ts';

export interface UsageRecorder extends UsageSink {
  /** What jobs of the tenant have used that are not written yet. */
  unwritten(tenantId: TenantId): readonly CountedJob[];
  /** Jobs that are not written yet. */
  waiting(): number;
  /** Tries once to write everything that waits. */
  flush(): Promise<void>;
}

/** How long usage waits for more of its tenant, and after a failed write. */
const LATER_MS = 1_000;
const MOST_AT_ONCE = 256;
/** More than settle while a store that does not answer still lets jobs settle. */
const MOST_WAITING = 20_000;

interface Waiting {
  readonly job: CountedJob;
  written: (() => void)[];
}
type Jobs = Map<JobId, Waiting>;

export function createUsageRecorder(deps: {
  readonly store: Pick<UsageStore, 'add'>;
  readonly clock: Clock;
  readonly log: Log;
  readonly meter: Meter;
  /** Called once for each job, when it is counted. */
  readonly counted?: (tenantId: TenantId, stages: readonly StageUsage[], at: number) => void;
}): UsageRecorder {
  const { store, clock, log, meter } = deps;
  const waiting = new Map<TenantId, Jobs>();
  const sending = new Map<TenantId, Jobs>();
  let total = 0;
  let cancel: Cancel | undefined;

  function later(): void {
    cancel ??= clock.after(LATER_MS, () => void flush());
  }

  function take(tenantId: TenantId): Jobs | undefined {
    const jobs = waiting.get(tenantId);
    // One write of a tenant at a time, so that a job cannot be in two.
    if (jobs === undefined || sending.has(tenantId)) return undefined;
    waiting.delete(tenantId);
    sending.set(tenantId, jobs);
    return jobs;
  }

  function putBack(tenantId: TenantId, jobs: Jobs): void {
    const newer = waiting.get(tenantId) ?? new Map();
    waiting.set(tenantId, new Map([...jobs, ...newer]));
    later();
  }

  async function send(tenantId: TenantId): Promise<void> {
    const jobs = take(tenantId);
    if (jobs === undefined) return;
    try {
      await store.add(
        tenantId,
        Array.from(jobs.values(), ({ job }) => job),
      );
    } catch (fault) {
      sending.delete(tenantId);
      log.debug({ tenant_id: tenantId, err: fault }, 'usage could not be written yet');
      putBack(tenantId, jobs);
      return;
    }
    sending.delete(tenantId);
    total -= jobs.size;
    for (const { written } of jobs.values()) for (const each of written) each();
    if ((waiting.get(tenantId)?.size ?? 0) >= MOST_AT_ONCE) void send(tenantId);
    else if (waiting.has(tenantId)) later();
  }

  async function flush(): Promise<void> {
    cancel?.();
    cancel = undefined;
    await Promise.all([...waiting.keys()].map(send));
  }

  function jobsOf(tenantId: TenantId): Jobs {
    const known = waiting.get(tenantId);
    if (known !== undefined) return known;
    const made: Jobs = new Map();
    waiting.set(tenantId, made);
    return made;
  }

  return {
    count(tenantId, job, written) {
      const known = sending.get(tenantId)?.get(job.jobId) ?? waiting.get(tenantId)?.get(job.jobId);
      if (known !== undefined) {
        if (written !== undefined) known.written.push(written);
        return;
      }
      if (total >= MOST_WAITING) {
        meter.count('scheduler_usage_dropped_total');
        return;
      }
      const jobs = jobsOf(tenantId);
      jobs.set(job.jobId, { job, written: written === undefined ? [] : [written] });
      total += 1;
      deps.counted?.(tenantId, job.usage.stages, job.usage.at);
      if (jobs.size === MOST_AT_ONCE) void send(tenantId);
      else later();
    },
    write: async (tenantId, job) => store.add(tenantId, [job]),
    unwritten: (tenantId) =>
      [sending, waiting].flatMap((all) => Array.from(all.get(tenantId)?.values() ?? [], ({ job }) => job)),
    waiting: () => total,
    async flush() {
      await flush();
      // What was counted while the first write was under way.
      await flush();
    },
  };
}
