/** Hot path: an acknowledged attempt gets a lease that lasts as long as it may run, and no slot longer than it runs (I1, I2). */
import { type Attempt, holdsFence, isOut, isSettled } from '../../domain/job.ts';
import { leaseId } from '../../domain/lease.ts';
import { lasting } from '../dispatch/renew-slot.ts';
import { type Engine, leaveFenced, releaseForGood } from '../engine.ts';
import { hasReleased, type InFlightJob, isAbandoned } from '../in-flight-job.ts';
import { leaseLeftMs } from './lease-left.ts';
import type { RetryOrFail } from './retry-or-fail.ts';

export interface Commits {
  /** False: its slot was given away. A ledger that does not answer is asked again for as long as the attempt goes on. */
  now(flight: InFlightJob, of: Attempt): Promise<boolean>;
  /**
   * When a commit may be made later, because the reservation lasts for long enough after that; undefined: it has to be now.
   * `isKept`: whoever heard the acknowledgement makes the lease last, too.
   */
  dueAt(flight: InFlightJob, heardAt: number, isKept: boolean): number | undefined;
  /** The lease of the attempt that is out lasts since it was fetched, and needs no commit. */
  isLasting(flight: InFlightJob): boolean;
  /** Not before then, should it still run. */
  later(flight: InFlightJob, dueAt: number): void;
  /** Of a job that was taken over: whoever drove it may have died before its lease was made to last. */
  adopted(flight: InFlightJob): void;
  /** The attempt was over before its commit was answered: what that took belongs to nobody. */
  undo(flight: InFlightJob, of: Attempt): Promise<void>;
  /** Its slot was given away. */
  loseSlot(flight: InFlightJob, of: Attempt): Promise<void>;
}

/** Far less than a reservation lasts, so that a commit is made before its lease ends. */
const AGAIN_MS = 250;
/** Before a reservation ends. */
const LATEST_MS = 1_000;

export function createCommits(engine: Engine, retryOrFail: RetryOrFail): Commits {
  const { ledger, settings, wheel } = engine;

  const now = (flight: InFlightJob, of: Attempt): Promise<boolean> => ask(engine, flight, of, commit);

  const delayMs = ({ job: { fence } }: InFlightJob, isKept: boolean): number =>
    (fence && ledger.commitDelayMs?.(fence.nodeId, isKept)) ?? Number.POSITIVE_INFINITY;

  async function commit(flight: InFlightJob, of: Attempt): Promise<void> {
    if (!goesOn(engine, flight, of)) return;
    const hasRoom = await now(flight, of);
    if (!(await undoIfOver(engine, flight, of)) && !hasRoom) await loseSlot(flight, of);
  }

  async function loseSlot(flight: InFlightJob, { nodeId, attempt }: Attempt): Promise<void> {
    engine.meter.count('scheduler_leases_lost_total');
    engine.link.cancel(nodeId, flight.job.jobId, 'lease_lost');
    const message = `${nodeId} acknowledged after its slot had been given away`;
    if (isOut(flight.job) && holdsFence(flight.job, nodeId, attempt))
      await retryOrFail.giveUp(flight, { code: 'NODE_OVERLOADED', message, isCounted: true, side: 'open' });
  }

  const isLasting = ({ isLasting, attempts, job: { fence } }: InFlightJob): boolean =>
    isLasting && fence?.attempt === attempts && ledger.lastsWhenFetched?.() === true;

  function commitIfRunning(flight: InFlightJob): void {
    const { state, fence } = flight.job;
    if (state === 'RUNNING' && fence !== undefined) void commit(flight, fence);
  }

  /** An instance of an earlier version, which makes nothing last, may have joined and handed it out before that was seen. */
  function commitUnlessLasting(flight: InFlightJob): void {
    if (!isLasting(flight)) commitIfRunning(flight);
  }

  return {
    now,
    dueAt(flight, heardAt, isKept) {
      if (isLasting(flight)) return Math.min(heardAt + delayMs(flight, true), flight.slotUntil - LATEST_MS);
      const dueAt = heardAt + delayMs(flight, isKept);
      // How long it lasts is known of the last attempt only: another may be on its way by now.
      const isLast = flight.job.fence?.attempt === flight.attempts;
      return isLast && flight.slotUntil - dueAt > settings.reservationTtlMs / 2 ? dueAt : undefined;
    },
    isLasting,
    later: (flight, dueAt) => void wheel.setAt(dueAt, commitUnlessLasting, flight),
    adopted: commitIfRunning,
    undo: (flight, of) => undo(engine, flight, of),
    loseSlot,
  };
}

/** A node that never acknowledges has accepted the job by taking it from the wire. Never rejects. */
export async function commitUnasked(engine: Engine, flight: InFlightJob, of: Attempt): Promise<void> {
  await ask(engine, flight, of, async () => {
    if (goesOn(engine, flight, of)) await commitUnasked(engine, flight, of);
  });
  await undoIfOver(engine, flight, of);
}

async function ask(
  engine: Engine,
  flight: InFlightJob,
  of: Attempt,
  again: (flight: InFlightJob, of: Attempt) => Promise<void>,
): Promise<boolean> {
  const { nodeId } = of;
  const ttlMs = leaseLeftMs(flight, engine.settings, engine.clock.now());
  const lease = leaseId(flight.job.jobId, of.attempt);
  try {
    const first = await engine.ledger.commit(nodeId, lease, ttlMs);
    const committed = await lasting(engine, nodeId, lease, ttlMs, first);
    if (committed.kind === 'unknown_node') return true;
    engine.fleet.setLoad(nodeId, committed);
    return committed.kind !== 'lost';
  } catch (fault) {
    engine.log.warn({ node_id: nodeId, lease, err: fault }, 'a commit did not answer');
    engine.wheel.set(AGAIN_MS, () => void again(flight, of));
    return true;
  }
}

/** Not one that is just being ended: its slot is given back already, and must not be taken again. */
const goesOn = (engine: Engine, flight: InFlightJob, of: Attempt): boolean =>
  engine.inFlightJobs.get(flight.job.jobId) === flight &&
  !isOver(flight, of) &&
  flight.givenUp !== of.attempt;

/** A commit may have been sent to a master which is none any more, and so come after the attempt has ended. True: nothing is left to do. */
async function undoIfOver(engine: Engine, flight: InFlightJob, of: Attempt): Promise<boolean> {
  if (isAbandoned(flight)) return true;
  if (!isOver(flight, of)) return false;
  await undo(engine, flight, of);
  return true;
}

async function undo(engine: Engine, flight: InFlightJob, { nodeId, attempt }: Attempt): Promise<void> {
  const lease = leaseId(flight.job.jobId, attempt);
  await (hasReleased(flight, attempt)
    ? releaseForGood(engine, nodeId, lease)
    : leaveFenced(engine, nodeId, lease));
}

/** Another attempt has the job by now, or nobody; or the node has had its last word on this one. */
export const isOver = (flight: InFlightJob, { nodeId, attempt }: Attempt): boolean =>
  isSettled(flight.job.state) || !holdsFence(flight.job, nodeId, attempt) || hasReleased(flight, attempt);
