/** Hot path: who drives the jobs that nodes of this instance work on, as their assignments and mailboxes said. The store knows better, but has to be asked. */
import type { JobId } from '../../domain/ids.ts';
import type { Clock } from '../../ports/clock.ts';

/** More jobs than the nodes of one instance work on at a time; the oldest is forgotten first. */
const MOST_NOTED = 50_000;

export interface DriverCache {
  /** `driver`: "instance/incarnation". */
  note(jobId: JobId, driver: string): void;
  find(jobId: JobId): string | undefined;
  forget(jobId: JobId): void;
  size(): number;
}

/** `keepMs`: as long as a job may last. Of one whose node says its last word to another instance nothing more is heard here. */
export function createDriverCache({ clock, keepMs }: { clock: Clock; keepMs: number }): DriverCache {
  /** In the order in which they were noted. */
  const drivers = new Map<JobId, { readonly driver: string; readonly notedAt: number }>();

  function forgetOld(): void {
    const now = clock.now();
    for (const [jobId, { notedAt }] of drivers) {
      if (drivers.size <= MOST_NOTED && now - notedAt < keepMs) return;
      drivers.delete(jobId);
    }
  }

  return {
    note(jobId, driver) {
      drivers.delete(jobId);
      drivers.set(jobId, { driver, notedAt: clock.now() });
      forgetOld();
    },
    find: (jobId) => drivers.get(jobId)?.driver,
    forget: (jobId) => void drivers.delete(jobId),
    size() {
      forgetOld();
      return drivers.size;
    },
  };
}
