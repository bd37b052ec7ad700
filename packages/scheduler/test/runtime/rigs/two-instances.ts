/** Two engines on one store and one ledger; the rig records the driver of each job, as the shared store does. */
import type { JobRecord } from '../../../src/domain/job.ts';
import type { Clock } from '../../../src/ports/clock.ts';
import type { JobStore, MoveResult } from '../../../src/ports/job-store.ts';
import type { JobDrivers } from '../../../src/runtime/takeover/job-drivers.ts';
import { createRig, type Rig, type RigOptions } from './rig.ts';

export interface DriverNotes {
  /** The store for that instance: if `isEnforced`, moves of jobs that it does not drive are rejected. */
  seenBy(instance: string, store: JobStore, isEnforced?: boolean): JobStore;
  /** From now on the instance drives the job. */
  assign(jobId: string, instance: string): void;
  of(jobId: string): string | undefined;
}

export function createDriverNotes(): DriverNotes {
  const drivers = new Map<string, string>();
  const isOther = (jobId: string, instance: string): boolean => (drivers.get(jobId) ?? instance) !== instance;

  return {
    seenBy: (instance, store, isEnforced = true) => ({
      ...store,
      async admit(draft) {
        const admitted = await store.admit(draft);
        if (admitted.kind === 'admitted') drivers.set(draft.jobId, instance);
        return admitted;
      },
      async move(jobId, expected, change): Promise<MoveResult> {
        return isEnforced && isOther(jobId, instance)
          ? { kind: 'driven_elsewhere' }
          : store.move(jobId, expected, change);
      },
      async discard(jobId) {
        return isEnforced && isOther(jobId, instance) ? 'driven_elsewhere' : store.discard(jobId);
      },
    }),
    assign: (jobId, instance) => drivers.set(jobId, instance),
    of: (jobId) => drivers.get(jobId),
  };
}

export interface Instances {
  readonly first: Rig;
  readonly second: Rig;
  readonly drivers: DriverNotes;
  /** Both know the node. */
  addNode(...node: Parameters<Rig['addNode']>): Promise<void>;
  /** From now on the second instance drives the job; the first does not know. Returns the record it resumed. */
  takeOver(jobId: string): Promise<JobRecord>;
  record(jobId: string): Promise<JobRecord>;
}

export function createInstances(
  options: Pick<RigOptions, 'settings' | 'wrapLedger' | 'tenancy'> & {
    wrapFirst?: (store: JobStore) => JobStore;
    wrapSecond?: (store: JobStore, clock: Clock) => JobStore;
    drivers?: JobDrivers;
  } = {},
): Instances {
  const notes = createDriverNotes();
  const { settings = {}, tenancy } = options;
  const first = createRig({
    settings,
    ...(tenancy !== undefined && { tenancy }),
    ...(options.drivers === undefined ? {} : { drivers: options.drivers }),
    wrapStore: (store) => {
      const seen = notes.seenBy('first', store);
      return options.wrapFirst?.(seen) ?? seen;
    },
  });
  const second = createRig({
    settings,
    ...(tenancy !== undefined && { tenancy }),
    shares: first,
    ...(options.wrapLedger === undefined ? {} : { wrapLedger: options.wrapLedger }),
    wrapStore: (store, clock) => {
      const seen = notes.seenBy('second', store);
      return options.wrapSecond?.(seen, clock) ?? seen;
    },
    ...(options.drivers === undefined ? {} : { drivers: options.drivers }),
  });

  async function record(jobId: string): Promise<JobRecord> {
    const found = await first.store.get(jobId);
    if (found === undefined) throw new Error(`${jobId} is not recorded`);
    return found;
  }

  return {
    first,
    second,
    drivers: notes,
    record,
    async addNode(...node) {
      await first.addNode(...node);
      await second.addNode(...node);
    },
    async takeOver(jobId) {
      notes.assign(jobId, 'second');
      const taken = await record(jobId);
      second.service.resume(taken);
      return taken;
    },
  };
}
