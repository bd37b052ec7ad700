/** Notifies subscribers on all instances that a job has moved, with notices by pub/sub. */
import type { JobId } from '../../domain/ids.ts';
import { createJobEvents as createSharedJobEvents, type MoveNotices } from '../shared-jobs/job-events.ts';
import { createChannels, type Subscription } from './connection/channels.ts';
import type { RedisConnection } from './connection/redis-connection.ts';
import type { Keys } from './keys.ts';

type Deps = Omit<Parameters<typeof createSharedJobEvents>[0], 'notices'> & {
  connection: RedisConnection;
  /** For subscriptions only. */
  subscriber: RedisConnection;
  keys: Keys;
};

export const createJobEvents = (deps: Deps): ReturnType<typeof createSharedJobEvents> =>
  createSharedJobEvents({ ...deps, notices: (onMoved) => createMoveNotices({ ...deps, onMoved }) });

/**
 * Notices from one instance to another that a job has moved. They contain only the job's id and may be lost: results never travel by
 * pub/sub, and a subscriber also reads the record periodically. One channel per instance, so that a new subscriber costs no command.
 */
function createMoveNotices(deps: {
  connection: RedisConnection;
  /** For subscriptions only. */
  subscriber: RedisConnection;
  keys: Keys;
  instanceId: string;
  onMoved: (jobId: JobId) => void;
}): MoveNotices {
  const { keys } = deps;
  const channels = createChannels(deps);
  const own = keys.instanceMoves(deps.instanceId);
  let subscription: Promise<Subscription> | undefined;

  return {
    async subscribe() {
      subscription ??= channels
        .subscribe([own], (_, jobId) => deps.onMoved(jobId))
        .catch((fault: unknown) => {
          subscription = undefined;
          throw fault;
        });
      await subscription;
    },

    send(instanceId, jobId) {
      // A lost notice is made up for by the periodic read.
      channels.publish(keys.instanceMoves(instanceId), jobId).catch(() => {});
    },

    async close() {
      const last = subscription;
      subscription = undefined;
      await (await last?.catch(() => undefined))?.close();
    },
  };
}
