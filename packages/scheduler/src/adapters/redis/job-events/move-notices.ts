/**
 * Notices from one instance to another that a job has moved. They carry the job's id alone and may be lost: results never go by
 * pub/sub, and whoever waits looks for himself now and then. One channel per instance, so that waiting subscribes nothing.
 */
import type { JobId } from '../../../domain/ids.ts';
import type { MoveNotices } from '../../shared-jobs/job-events.ts';
import { createChannels, type Ear } from '../connection/channels.ts';
import type { RedisConnection } from '../connection/redis-connection.ts';
import type { Keys } from '../keys.ts';

export function createMoveNotices(deps: {
  connection: RedisConnection;
  /** Only listens. */
  ear: RedisConnection;
  keys: Keys;
  instanceId: string;
  onMoved: (jobId: JobId) => void;
}): MoveNotices {
  const { keys } = deps;
  const channels = createChannels(deps);
  const own = keys.instanceMoves(deps.instanceId);
  let listening: Promise<Ear> | undefined;

  return {
    async listen() {
      listening ??= channels
        .subscribe([own], (_, jobId) => deps.onMoved(jobId))
        .catch((fault: unknown) => {
          listening = undefined;
          throw fault;
        });
      await listening;
    },

    send(instanceId, jobId) {
      // A lost notice is found by looking.
      channels.publish(keys.instanceMoves(instanceId), jobId).catch(() => {});
    },

    async close() {
      const ear = listening;
      listening = undefined;
      await (await ear?.catch(() => undefined))?.close();
    },
  };
}
