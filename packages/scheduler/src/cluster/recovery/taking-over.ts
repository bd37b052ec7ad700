/**
 * Cold path: jobs that are taken over from the dead, for certain. A call that failed may have taken one all the same, and others then
 * take it off the index of the dead: nobody would ever find it. So it is asked again until the store says whose it is.
 */
import type { JobId } from '../../domain/ids.ts';
import type { JobRecord } from '../../domain/job.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Instances } from '../../ports/instances.ts';
import type { Log } from '../../ports/log.ts';
import type { Position, TakeoverStore } from './takeover.ts';

interface Unsure extends Position {
  /** Who drove it. */
  readonly instanceId: string;
}

const AGAIN_MS = 1_000;
const AT_ONCE = 32;
/** Far more than are asked for before it is noticed that the store does not answer. */
const MOST_UNSURE = 10_000;

export function createTakeoverLookup(deps: {
  takeoverStore: Pick<TakeoverStore, 'takeOver'>;
  instances: Pick<Instances, 'living'>;
  /** Drives it from now on. Safe to repeat. */
  adopt: (job: JobRecord) => void;
  clock: Clock;
  log: Log;
}): { readonly takeOver: TakeoverStore['takeOver']; unsure(): number } {
  const { takeoverStore, clock, log } = deps;
  const unsure = new Map<JobId, Unsure>();
  let isWaiting = false;

  async function askAgain(job: Unsure): Promise<void> {
    const { jobId, instanceId } = job;
    try {
      // It may have been started again since, and what its next life drives is its own.
      const livingIncarnation = (await deps.instances.living([instanceId])).get(instanceId)?.incarnation;
      const from = livingIncarnation === undefined ? { instanceId } : { instanceId, livingIncarnation };
      const taken = await takeoverStore.takeOver(job, from);
      unsure.delete(jobId);
      if (taken.kind === 'taken') deps.adopt(taken.job);
    } catch (fault) {
      log.info({ job_id: jobId, err: fault }, 'it is not known yet whether a job was taken over');
    }
  }

  async function askAll(): Promise<void> {
    const all = [...unsure.values()];
    for (let at = 0; at < all.length; at += AT_ONCE) {
      await Promise.all(all.slice(at, at + AT_ONCE).map(askAgain));
    }
    isWaiting = false;
    if (unsure.size > 0) askSoon();
  }

  function askSoon(): void {
    if (isWaiting) return;
    isWaiting = true;
    clock.after(AGAIN_MS, () => void askAll());
  }

  return {
    async takeOver(position, from) {
      const { jobId, deadlineAt } = position;
      try {
        const taken = await takeoverStore.takeOver(position, from);
        unsure.delete(jobId);
        return taken;
      } catch (fault) {
        if (unsure.size < MOST_UNSURE) unsure.set(jobId, { jobId, deadlineAt, instanceId: from.instanceId });
        askSoon();
        throw fault;
      }
    },
    unsure: () => unsure.size,
  };
}
