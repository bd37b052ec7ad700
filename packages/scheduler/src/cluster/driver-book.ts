/** Hot path: who drives the jobs that nodes of this instance work on, as their assignments and mailboxes said. The store knows better, but has to be asked. */
import type { JobId } from '../domain/ids.ts';

/** More jobs than the nodes of one instance work on at a time; the oldest is forgotten first. */
const MOST_NOTED = 50_000;

export interface DriverBook {
  /** `driver`: "instance/incarnation". */
  note(jobId: JobId, driver: string): void;
  find(jobId: JobId): string | undefined;
  forget(jobId: JobId): void;
  size(): number;
}

export function createDriverBook(): DriverBook {
  const drivers = new Map<JobId, string>();
  return {
    note(jobId, driver) {
      drivers.set(jobId, driver);
      const [oldest] = drivers.keys();
      if (drivers.size > MOST_NOTED && oldest !== undefined) drivers.delete(oldest);
    },
    find: (jobId) => drivers.get(jobId),
    forget: (jobId) => void drivers.delete(jobId),
    size: () => drivers.size,
  };
}
