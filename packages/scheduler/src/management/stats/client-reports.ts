/**
 * Cold path: what clients reported about the translations of their jobs. In memory, the newest of the last hour, bounded (I11). A note may
 * repeat what people said: it is shown to operators only and never logged.
 */
import { createBoundedMap } from '../../domain/bounded-map.ts';
import type { JobId, SessionId, TenantId } from '../../domain/ids.ts';
import { partOf } from '../../domain/tenancy.ts';
import { createTenantFifo } from '../../domain/tenant-fifo.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Meter } from '../../ports/meter.ts';

export interface ClientReport {
  readonly at: number;
  readonly kind: string;
  readonly note?: string | undefined;
}

export interface ClientReports {
  /** False: the job has as many reports as are kept. */
  add(job: ReportedJob, kind: string, note: string | undefined): boolean;
  /** Oldest first. */
  of(jobId: JobId): readonly ClientReport[];
  /** Without `jobId`: of every job of the session. Without a tenant: of any tenant. Returns how many jobs had reports. */
  erase(about: {
    readonly jobId?: JobId | undefined;
    readonly sessionId?: SessionId | undefined;
    readonly tenantId?: TenantId | undefined;
  }): number;
}

export interface ReportedJob {
  readonly jobId: JobId;
  readonly sessionId: SessionId;
  readonly tenantId: TenantId;
}

const MAX_JOBS = 1_000;
const MAX_PER_JOB = 5;
const HOUR_MS = 3_600_000;

export function createClientReports({
  clock,
  meter,
  tenantShare,
  maxJobs = MAX_JOBS,
  storesTexts,
}: {
  clock: Clock;
  meter: Pick<Meter, 'count'>;
  /** Of the jobs, for one tenant. */
  tenantShare: number;
  maxJobs?: number;
  /** False: notes are dropped, because they may repeat what people said. */
  storesTexts: boolean;
}): ClientReports {
  const byJob = createBoundedMap<JobId, ReportedJob & { readonly reports: readonly ClientReport[] }>({
    max: maxJobs,
    maxAgeMs: HOUR_MS,
    now: clock.now,
    onEvicted: (jobId, { tenantId }) => byTenant.delete(tenantId, jobId),
  });
  const byTenant = createTenantFifo<JobId>();

  function remove({ jobId, tenantId }: Pick<ReportedJob, 'jobId' | 'tenantId'>): void {
    byJob.delete(jobId);
    byTenant.delete(tenantId, jobId);
  }

  /** The job becomes the newest of its tenant, whose oldest leaves at its part. */
  function put(job: ReportedJob, reports: readonly ClientReport[]): void {
    const { jobId, tenantId } = job;
    remove(job);
    const [oldest] = byTenant.firstOf(tenantId) ?? [];
    if (oldest !== undefined && byTenant.countOf(tenantId) >= partOf(maxJobs, tenantShare))
      remove({ jobId: oldest, tenantId });
    byTenant.add(tenantId, jobId, jobId);
    byJob.set(jobId, { ...job, reports });
  }

  return {
    add({ jobId, sessionId, tenantId }, kind, note) {
      // It first drops those that are too old.
      const known = byJob.get(jobId)?.reports ?? [];
      if (known.length >= MAX_PER_JOB) return false;
      const report = { at: clock.now(), kind, note: storesTexts ? note : undefined };
      put({ jobId, sessionId, tenantId }, [...known, report]);
      meter.count('scheduler_client_reports_total', { kind });
      return true;
    },
    of: (jobId) => byJob.get(jobId)?.reports ?? [],
    erase(about) {
      const isMeant = ({ jobId, sessionId, tenantId }: ReportedJob): boolean =>
        (about.jobId === undefined ? sessionId === about.sessionId : jobId === about.jobId) &&
        (about.tenantId === undefined || tenantId === about.tenantId);
      const meant = [...byJob.entries()].map(([, job]) => job).filter(isMeant);
      for (const job of meant) remove(job);
      return meant.length;
    },
  };
}
