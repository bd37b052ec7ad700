/** Composition root: the job store as many instances use it: a request that the store may have forgotten is not taken for a new one. */
import type { JobId } from '../../domain/ids.ts';
import type { JobStore } from '../../ports/job-store.ts';

export function guardJobStore<Jobs extends JobStore>(deps: {
  jobs: Jobs;
  /** Resolves when everybody has told the store again of the jobs it drives; undefined: it has lost nothing. */
  othersTold: (jobId: JobId) => Promise<void> | undefined;
}): Jobs {
  const { jobs, othersTold } = deps;
  return {
    ...jobs,
    admit(draft: Parameters<Jobs['admit']>[0]) {
      // A name that the server made is nobody's repeat.
      const told = draft.requestId === undefined ? undefined : othersTold(draft.jobId);
      return told === undefined ? jobs.admit(draft) : told.then(() => jobs.admit(draft));
    },
  };
}
