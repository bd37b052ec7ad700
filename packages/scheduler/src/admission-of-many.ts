/** Composition root: the job store as many instances use it: a request that the store may have forgotten is not taken for a new one. */
import type { JobId } from './domain/ids.ts';
import type { JobStoreOfMany } from './store-of-many.ts';

export function createAdmissionOfMany(deps: {
  jobs: JobStoreOfMany;
  /** Resolves when everybody has told the store again of the jobs it drives; undefined: it has lost nothing. */
  othersTold: (jobId: JobId) => Promise<void> | undefined;
}): JobStoreOfMany {
  const { jobs, othersTold } = deps;
  return {
    ...jobs,
    admit(draft) {
      // A name that the server made is nobody's repeat.
      const told = draft.requestId === undefined ? undefined : othersTold(draft.jobId);
      return told === undefined ? jobs.admit(draft) : told.then(() => jobs.admit(draft));
    },
  };
}
