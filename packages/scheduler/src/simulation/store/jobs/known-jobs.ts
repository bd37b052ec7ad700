/** Simulation: records as an instance last saw them, with their revision. */
import type { JobId } from '../../../domain/ids.ts';
import type { JobRecord } from '../../../domain/job.ts';

export interface KnownJobs {
  get(jobId: JobId): { readonly record: JobRecord; readonly revision: number } | undefined;
  note(record: JobRecord, revision: number): void;
  forget(jobId: JobId): void;
}

/** The one known for longest goes first. */
export function createKnownJobs(deps: { maxKnown: number }): KnownJobs {
  const jobs = new Map<JobId, { readonly record: JobRecord; readonly revision: number }>();
  return {
    get: (jobId) => jobs.get(jobId),
    note(record, revision) {
      jobs.set(record.jobId, { record, revision });
      if (jobs.size <= deps.maxKnown) return;
      const [oldest] = jobs.keys();
      if (oldest !== undefined) jobs.delete(oldest);
    },
    forget: (jobId) => void jobs.delete(jobId),
  };
}
