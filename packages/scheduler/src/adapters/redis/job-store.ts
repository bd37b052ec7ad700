/** Hot path: job records and request bindings of all instances, in Redis: one hash slot and one script for each call. */
import {
  createJobStore as createSharedJobStore,
  type JobStoreLimits,
  type JobStoreOwner,
  type SharedJobStore,
} from '../shared-jobs/job-store.ts';
import type { RedisConnection } from './connection/redis-connection.ts';
import { createAdmitJob } from './job-store/admit-job.ts';
import { createDiscardJob } from './job-store/discard-job.ts';
import { createDropJob } from './job-store/drop-job.ts';
import { createEraseJob } from './job-store/erase-job.ts';
import { createFindBoundJob } from './job-store/find-bound-job.ts';
import { createForgetIndexes } from './job-store/forget-indexes.ts';
import { createIndexJobs } from './job-store/index-jobs.ts';
import { createMoveJob } from './job-store/move-job.ts';
import { createIndexReads } from './job-store/read-index.ts';
import { createRecordReads } from './job-store/read-job.ts';
import { createRecordFields } from './job-store/record-fields.ts';
import { createRestoreJob } from './job-store/restore-job.ts';
import { createShelveJob } from './job-store/shelve-job.ts';
import { createTakeOverJob } from './job-store/take-over-job.ts';
import { createUnbindJob } from './job-store/unbind-job.ts';
import { createWatchJob } from './job-store/watch-job.ts';
import type { Keys } from './keys.ts';
import type { SealedPayload } from './sealed-payload.ts';

export type { JobStoreLimits, SharedJobStore };

export function createJobStore(
  deps: {
    connection: RedisConnection;
    keys: Keys;
    payload?: SealedPayload;
  } & JobStoreOwner &
    JobStoreLimits,
): SharedJobStore {
  const { connection, keys, instanceId } = deps;
  const fields = createRecordFields(deps.payload);
  return createSharedJobStore({
    ...deps,
    scripts: {
      admit: createAdmitJob(connection, keys, fields),
      move: createMoveJob(connection, keys, fields, deps),
      discard: createDiscardJob(connection, keys),
      findBound: createFindBoundJob(connection, keys, fields),
      shelve: createShelveJob(connection, keys),
      unbind: createUnbindJob(connection, keys),
      drop: createDropJob(connection, keys),
      erase: createEraseJob(connection, keys, fields),
      watch: createWatchJob(connection, keys, instanceId, fields),
      takeOver: createTakeOverJob(connection, keys, fields),
      restore: createRestoreJob(connection, keys, fields),
      ...createRecordReads(connection, keys, fields),
    },
    indexes: {
      note: createIndexJobs(connection, keys, instanceId, deps),
      forget: createForgetIndexes(connection, keys),
      ...createIndexReads(connection, keys, instanceId),
    },
    endOfTurn: () => new Promise((resolve) => setImmediate(resolve)),
  });
}
