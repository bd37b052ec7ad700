/**
 * Cold path: what clients reported about the translations of their jobs. In memory, the newest of the last hour, bounded (I11). A note may
 * repeat what people said: it is shown to operators only and never logged.
 */
import { createBoundedMap } from '../../domain/bounded-map.ts';
import type { JobId, SessionId, TenantId } from '../../domain/ids.ts';
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
  storesTexts,
}: {
  clock: Clock;
  meter: Pick<Meter, 'count'>;
  /** False: notes are dropped, because they may repeat what people said. */
  storesTexts: boolean;
}): ClientReports {
  const byJob = createBoundedMap<JobId, ReportedJob & { readonly reports: readonly ClientReport[] }>({
    max: MAX_JOBS,
    maxAgeMs: HOUR_MS,
    now: clock.now,
  });
  return {
    add({ jobId, sessionId, tenantId }, kind, note) {
      const known = byJob.get(jobId)?.reports ?? [];
      if (known.length >= MAX_PER_JOB) return false;
      const report = { at: clock.now(), kind, note: storesTexts ? note : undefined };
      byJob.set(jobId, { jobId, sessionId, tenantId, reports: [...known, report] });
      meter.count('scheduler_client_reports_total', { kind });
      return true;
    },
    of: (jobId) => byJob.get(jobId)?.reports ?? [],
    erase(about) {
      const isMeant = ({ jobId, sessionId, tenantId }: ReportedJob): boolean =>
        (about.jobId === undefined ? sessionId === about.sessionId : jobId === about.jobId) &&
        (about.tenantId === undefined || tenantId === about.tenantId);
      const meant = [...byJob.entries()].filter(([, job]) => isMeant(job));
      for (const [jobId] of meant) byJob.delete(jobId);
      return meant.length;
    },
  };
}
