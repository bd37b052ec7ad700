/** Hot path: the drivers of the jobs on this instance's nodes, as assignments and mailbox entries named them. The job record is authoritative, but reading it costs a command. */
import { createBoundedMap } from '../../domain/bounded-map.ts';
import type { JobId } from '../../domain/ids.ts';
import type { Clock } from '../../ports/clock.ts';

/** More jobs than run on the nodes of one instance at a time. */
const MAX_JOBS = 50_000;

export interface DriverCache {
  /** `driver`: "instance/incarnation". */
  note(jobId: JobId, driver: string): void;
  find(jobId: JobId): string | undefined;
  forget(jobId: JobId): void;
  size(): number;
}

/** `keepMs`: as long as a job may last. If a node sends its last report to another instance, only the age removes the entry here. */
export function createDriverCache({ clock, keepMs }: { clock: Clock; keepMs: number }): DriverCache {
  const drivers = createBoundedMap<JobId, string>({
    max: MAX_JOBS,
    maxAgeMs: keepMs,
    now: () => clock.now(),
  });
  return {
    note: (jobId, driver) => drivers.set(jobId, driver),
    find: (jobId) => drivers.get(jobId),
    forget: (jobId) => void drivers.delete(jobId),
    size: () => drivers.size,
  };
}
