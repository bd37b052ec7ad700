/** Hot path: finds the driver of a job: this instance, the driver that its assignment named, or the one in the job record, if it lives. */

import { SchedulerError } from '../../domain/errors.ts';
import { driverName, instanceOf, type JobId } from '../../domain/ids.ts';
import type { Instance } from '../../ports/instances.ts';
import type { DriverCache } from './driver-cache.ts';

/** `here`: this instance drives the job, or the job is settled and only a lease is left to release. `none`: its driver is being replaced. */
export type Direction = 'here' | 'none' | { readonly instanceId: string };

/**
 * `socket`: a node reported on its socket; the report is retried until it finds a driver. `request`: a caller waits for the answer, so an
 * instance that joined just now is looked up. `message`: another instance took this one for the driver.
 */
export type Origin = 'socket' | 'request' | 'message';

export interface FindDriverDeps {
  readonly drives: (jobId: JobId) => boolean;
  readonly driverOf: (
    jobId: JobId,
  ) => Promise<{ readonly driver: string; readonly isSettled: boolean } | undefined>;
  /** "instance/incarnation" of this one. */
  readonly driver: () => string;
  /** `expected`: membership is read again if this instance is missing. */
  readonly living: (expected?: string) => Promise<ReadonlyMap<string, Instance>>;
  /** The store may have lost the job. */
  readonly mayBeLost: (jobId: JobId) => boolean;
  /** The store may have lost the job. Resolves when its driver had time to write it again. */
  readonly replayed: (jobId: JobId) => Promise<void> | undefined;
  readonly driverCache: Pick<DriverCache, 'find'>;
}

export interface FindDriver {
  find(jobId: JobId, origin: Origin): Promise<Direction>;
  /** Calls `here` or `there`. Rejects with SCHEDULER_DEPENDENCY_DOWN while the driver is being replaced. */
  route<T>(
    jobId: JobId,
    origin: Origin,
    here: () => Promise<T>,
    there: (instanceId: string) => Promise<T>,
  ): Promise<T>;
}

export function createFindDriver(deps: FindDriverDeps): FindDriver {
  async function find(jobId: JobId, origin: Origin): Promise<Direction> {
    if (deps.drives(jobId)) return 'here';
    // Two instances whose caches name each other would send a message to and fro for ever: after one hop only the record counts.
    const cached = origin === 'message' ? undefined : cachedDriver(jobId);
    if (cached !== undefined && (await lives(cached, origin))) return { instanceId: instanceOf(cached) };
    const stored = await deps.driverOf(jobId);
    // A job that is in the cache and not in the store was lost by the store, and its driver will write it again.
    if (stored === undefined) return cached === undefined && !deps.mayBeLost(jobId) ? 'here' : 'none';
    if (stored.isSettled) return 'here';
    // If the record names this instance and the engine does not drive the job, it is being taken over.
    if (stored.driver === deps.driver()) return deps.drives(jobId) ? 'here' : 'none';
    return (await lives(stored.driver, origin)) ? { instanceId: instanceOf(stored.driver) } : 'none';
  }

  /** An entry that names this instance is outdated: it does not drive the job any more. */
  function cachedDriver(jobId: JobId): string | undefined {
    const cached = deps.driverCache.find(jobId);
    return cached === deps.driver() ? undefined : cached;
  }

  async function lives(driver: string, origin: Origin): Promise<boolean> {
    const instanceId = instanceOf(driver);
    const instance = (await deps.living(origin === 'request' ? instanceId : undefined)).get(instanceId);
    return instance !== undefined && driverName(instance) === driver;
  }

  return {
    find,
    async route(jobId, origin, here, there) {
      let direction = await find(jobId, origin);
      const replayed = direction === 'none' ? deps.replayed(jobId) : undefined;
      if (replayed !== undefined) {
        await replayed;
        direction = await find(jobId, origin);
      }
      if (direction === 'here') return here();
      if (direction === 'none') {
        throw new SchedulerError(
          'SCHEDULER_DEPENDENCY_DOWN',
          `the instance that drove job ${jobId} is being replaced; try again shortly`,
        );
      }
      return there(direction.instanceId);
    },
  };
}
