/** Cold path: whom jobs were taken over from. A store that lost that it was done still names them, though they are gone for good. */
import type { JobId } from '../../domain/ids.ts';

export interface FormerDrivers {
  get(jobId: JobId): string | undefined;
  note(jobId: JobId, former: string): void;
  /** What was taken over by an incarnation that is gone itself is nobody's. */
  clear(): void;
}

/** Whoever is forgotten cannot be told apart from a driver that lives; so those taken over longest ago go. */
export function createFormerDrivers(deps: { maxFormer: number }): FormerDrivers {
  const formers = new Map<JobId, string>();
  return {
    get: (jobId) => formers.get(jobId),
    note(jobId, former) {
      formers.delete(jobId);
      formers.set(jobId, former);
      const [oldest] = formers.keys();
      if (formers.size > deps.maxFormer && oldest !== undefined) formers.delete(oldest);
    },
    clear: () => formers.clear(),
  };
}
