/** Hot path: the job store as one of many instances uses it. A request whose record a failover may have lost is not admitted as a new one. */
import type { JobId } from '../../domain/ids.ts';
import type { JobStore } from '../../ports/job-store.ts';

export function guardJobStore<Jobs extends JobStore>(deps: {
  jobs: Jobs;
  /** Resolves when every driver had time to write its jobs again; undefined: the store has lost nothing. */
  othersReplayed: (jobId: JobId) => Promise<void> | undefined;
}): Jobs {
  const { jobs, othersReplayed } = deps;
  return {
    ...jobs,
    admit(draft: Parameters<Jobs['admit']>[0]) {
      // A job without a request id cannot be repeated.
      const replayed = draft.requestId === undefined ? undefined : othersReplayed(draft.jobId);
      return replayed === undefined ? jobs.admit(draft) : replayed.then(() => jobs.admit(draft));
    },
  };
}
