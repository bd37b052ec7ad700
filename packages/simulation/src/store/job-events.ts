/** Simulation: notifies those who wait for a job that it moved, on any instance. A notice carries the job's id and may be lost. */
import {
  createJobEvents as createSharedJobEvents,
  type MoveNotices,
} from '../../../scheduler/dist/adapters/shared-jobs/job-events.js';
import type { JobId } from '../../../scheduler/dist/domain/ids.js';
import type { Lines } from './servers/lines.ts';
import { tags } from './servers/tags.ts';

const movesTo = (instanceId: string): string => `job_moves:${instanceId}`;

type Deps = Omit<Parameters<typeof createSharedJobEvents>[0], 'notices'> & { lines: Lines };

export const createJobEvents = (deps: Deps): ReturnType<typeof createSharedJobEvents> =>
  createSharedJobEvents({ ...deps, notices: (onMoved) => createMoveNotices(deps, onMoved) });

function createMoveNotices(
  { lines, instanceId }: Pick<Deps, 'lines' | 'instanceId'>,
  onMoved: (jobId: JobId) => void,
): MoveNotices {
  let listening: Promise<() => void> | undefined;
  return {
    async subscribe() {
      listening ??= lines
        .subscribe(tags.instance(instanceId), movesTo(instanceId), (jobId) => onMoved(jobId as JobId))
        .catch((fault: unknown) => {
          listening = undefined;
          throw fault;
        });
      await listening;
    },
    send: (to, jobId) => lines.publish(tags.instance(to), movesTo(to), jobId),
    async close() {
      const stop = await listening?.catch(() => undefined);
      listening = undefined;
      stop?.();
    },
  };
}
