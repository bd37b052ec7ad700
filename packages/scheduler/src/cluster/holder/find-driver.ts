/** Hot path: finds the driver of a job: this instance, the driver that its assignment named, or the one in the job record, if it lives. */
import { driverName, instanceOf } from '../../domain/driver-name.ts';
import type { JobId } from '../../domain/ids.ts';
import type { Instance } from '../../ports/instances.ts';
import type { DriverCache } from './driver-cache.ts';

/** `here`: it is driven here, or it is over and only a lease is left to give back. `nobody`: its driver is being replaced. */
export type Direction = 'here' | 'nobody' | { readonly instanceId: string };

/**
 * How it came here. `said`: by a node on a socket; nobody waits, it is tried again by itself and needs no closer look. `asked`: somebody
 * waits for the answer. `forwarded`: another instance took this one for the driver.
 */
export type Way = 'said' | 'asked' | 'forwarded';

export interface FindDriverDeps {
  readonly drives: (jobId: JobId) => boolean;
  readonly driverOf: (
    jobId: JobId,
  ) => Promise<{ readonly driver: string; readonly isSettled: boolean } | undefined>;
  /** "instance/incarnation" of this one. */
  readonly driver: () => string;
  /** `expected`: with that one, also if it joined a moment ago. */
  readonly living: (expected?: string) => Promise<ReadonlyMap<string, Instance>>;
  /** The store may have lost the job. */
  readonly mayBeLost: (jobId: JobId) => boolean;
  readonly driverCache: Pick<DriverCache, 'find'>;
}

export function createFindDriver(deps: FindDriverDeps) {
  async function directionOf(jobId: JobId, way: Way): Promise<Direction> {
    if (deps.drives(jobId)) return 'here';
    // What came by the notes of one instance does not go on by those of another: they could send it round for ever.
    const noted = way === 'forwarded' ? undefined : notedOther(jobId);
    if (noted !== undefined && (await lives(noted, way))) return { instanceId: instanceOf(noted) };
    const stored = await deps.driverOf(jobId);
    // Its assignment came through here: a store that has no trace of it has lost it, and will be told of it again.
    if (stored === undefined) return noted === undefined && !deps.mayBeLost(jobId) ? 'here' : 'nobody';
    if (stored.isSettled) return 'here';
    // Ours by its record and not in flight yet: it is just being taken over.
    if (stored.driver === deps.driver()) return deps.drives(jobId) ? 'here' : 'nobody';
    return (await lives(stored.driver, way)) ? { instanceId: instanceOf(stored.driver) } : 'nobody';
  }

  /** An assignment of our own that an heir handed to a node of ours says no more than we know: whoever wrote to himself would do so again and again. */
  function notedOther(jobId: JobId): string | undefined {
    const noted = deps.driverCache.find(jobId);
    return noted === deps.driver() ? undefined : noted;
  }

  async function lives(driver: string, way: Way): Promise<boolean> {
    const instanceId = instanceOf(driver);
    const instance = (await deps.living(way === 'asked' ? instanceId : undefined)).get(instanceId);
    return instance !== undefined && driverName(instance) === driver;
  }

  return directionOf;
}
