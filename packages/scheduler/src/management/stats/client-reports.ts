/**
 * Cold path: what clients reported about the translations of their jobs. In memory, the newest of the last hour, bounded (I11). A note may
 * repeat what people said: it is shown to operators only and never logged.
 */
import { createBoundedMap } from '../../domain/bounded-map.ts';
import type { JobId } from '../../domain/ids.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Meter } from '../../ports/meter.ts';

export interface ClientReport {
  readonly at: number;
  readonly kind: string;
  readonly note?: string | undefined;
}

export interface ClientReports {
  /** False: the job has as many reports as are kept. */
  add(jobId: JobId, kind: string, note: string | undefined): boolean;
  /** Oldest first. */
  of(jobId: JobId): readonly ClientReport[];
}

const MAX_JOBS = 1_000;
const MAX_PER_JOB = 5;
const HOUR_MS = 3_600_000;

export function createClientReports({
  clock,
  meter,
}: {
  clock: Clock;
  meter: Pick<Meter, 'count'>;
}): ClientReports {
  const byJob = createBoundedMap<JobId, readonly ClientReport[]>({
    max: MAX_JOBS,
    maxAgeMs: HOUR_MS,
    now: clock.now,
  });
  return {
    add(jobId, kind, note) {
      const known = byJob.get(jobId) ?? [];
      if (known.length >= MAX_PER_JOB) return false;
      byJob.set(jobId, [...known, { at: clock.now(), kind, note }]);
      meter.count('scheduler_client_reports_total', { kind });
      return true;
    },
    of: (jobId) => byJob.get(jobId) ?? [],
  };
}
