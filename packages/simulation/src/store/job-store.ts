/**
 * Simulation: the job store of many instances, as one of them sees it. What an instance counts, knows and owes is the product's own
 * (adapters/job-book); what happens on the shards stands in for the scripts of Redis.
 */

import { jobTag } from '../../../scheduler/dist/adapters/shared-jobs/job-scripts.js';
import {
  createJobStore as createSharedJobStore,
  type JobStoreLimits,
  type JobStoreOwner,
} from '../../../scheduler/dist/adapters/shared-jobs/job-store.js';
import type { SharedJobStore } from '../../../scheduler/dist/app/shared-store.js';
import type { JobId } from '../../../scheduler/dist/domain/ids.js';
import { createIndexScripts } from './jobs/index-scripts.ts';
import * as on from './jobs/job-scripts.ts';
import type { Lines } from './servers/lines.ts';
import type { Shard } from './servers/shard.ts';
import { tags } from './servers/tags.ts';

export type { JobStoreLimits };

export function createJobStore(deps: { lines: Lines } & JobStoreOwner & JobStoreLimits): SharedJobStore {
  const { lines, instanceId } = deps;
  const ask = <T>(jobId: JobId, what: string, run: (shard: Shard, tag: string) => T): Promise<T> => {
    const tag = jobTag(jobId);
    return lines.ask(tags.job(tag), what, (shard) => run(shard, tag));
  };

  return createSharedJobStore({
    ...deps,
    scripts: {
      admit: (draft, by) => ask(draft.jobId, 'admit-job', (shard, tag) => on.admitJob(shard, tag, draft, by)),
      async move(driver, jobId, expected, change, known) {
        const move = { driver, expected, change };
        const moved = await ask(jobId, 'move-job', (shard, tag) => on.moveJob(shard, tag, jobId, move, deps));
        return on.seenBy(known, moved, change);
      },
      discard: (jobId, driver) =>
        ask(jobId, 'discard-job', (shard, tag) => on.discardJob(shard, tag, jobId, driver)),
      read: (jobId) => ask(jobId, 'read-job', (shard, tag) => on.readJob(shard, tag, jobId)),
      findBound: (tag) => lines.ask(tags.job(tag), 'find-bound-job', (shard) => on.findBoundJob(shard, tag)),
      shelve: (jobId) => ask(jobId, 'shelve-job', (shard, tag) => on.shelveJob(shard, tag, jobId)),
      unbind: (jobId) => ask(jobId, 'unbind-job', (shard, tag) => on.unbindJob(shard, tag, jobId)),
      erase: (erased) => ask(erased.jobId, 'erase-job', (shard, tag) => on.eraseJob(shard, tag, erased)),
      drop: (jobId) => ask(jobId, 'drop-job', (shard, tag) => on.dropJob(shard, tag, jobId)),
      watch: (jobId, revision) =>
        ask(jobId, 'watch-job', (shard, tag) => on.watchJob(shard, tag, jobId, { instanceId, revision })),
      async driverOf(jobId) {
        const stored = await ask(jobId, 'read-driver', (shard, tag) => on.readJob(shard, tag, jobId));
        return stored && { driver: stored.driver, isSettled: stored.isSettled };
      },
      takeOver: (jobId, from, to) =>
        ask(jobId, 'take-over-job', (shard, tag) => on.takeOverJob(shard, tag, jobId, from, to)),
      restore: (job, by) => ask(job.jobId, 'restore-job', (shard, tag) => on.restoreJob(shard, tag, job, by)),
    },
    indexes: createIndexScripts(deps),
    // What one event does is done before the next one happens; requests of one moment travel together anyway.
    endOfTurn: () => Promise.resolve(),
  });
}
