/** Tells whoever waits for a job that it moved, wherever it was moved: its notices go by pub/sub. */
import { createJobEvents as createBookedJobEvents } from '../shared-jobs/job-events.ts';
import type { RedisConnection } from './connection/redis-connection.ts';
import { createMoveNotices } from './job-events/move-notices.ts';
import type { Keys } from './keys.ts';

type Deps = Omit<Parameters<typeof createBookedJobEvents>[0], 'notices'> & {
  connection: RedisConnection;
  /** Only listens. */
  ear: RedisConnection;
  keys: Keys;
};

export const createJobEvents = (deps: Deps): ReturnType<typeof createBookedJobEvents> =>
  createBookedJobEvents({ ...deps, notices: (onMoved) => createMoveNotices({ ...deps, onMoved }) });
