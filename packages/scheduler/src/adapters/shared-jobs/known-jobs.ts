/**
 * Hot path: records as this instance last saw them, with their revision. A move that finds the revision unchanged is answered
 * without the record, which spares sending and reading it several times per job.
 */
import type { JobId } from '../../domain/ids.ts';
import type { JobRecord } from '../../domain/job.ts';

export interface KnownJob {
  readonly record: JobRecord;
  readonly revision: number;
}

export interface KnownJobs {
  get(jobId: JobId): KnownJob | undefined;
  note(record: JobRecord, revision: number): void;
  forget(jobId: JobId): void;
}

/** Whoever is forgotten costs one longer answer, nothing else; so the one seen longest ago goes. */
export function createKnownJobs(deps: { maxKnown: number }): KnownJobs {
  const jobs = new Map<JobId, KnownJob>();
  return {
    get: (jobId) => jobs.get(jobId),
    note(record, revision) {
      jobs.delete(record.jobId);
      jobs.set(record.jobId, { record, revision });
      if (jobs.size <= deps.maxKnown) return;
      for (const oldest of jobs.keys()) {
        jobs.delete(oldest);
        return;
      }
    },
    forget: (jobId) => void jobs.delete(jobId),
  };
}
