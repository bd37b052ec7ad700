/** Hot path: an acknowledged attempt gets a lease that lasts as long as it may run, and no slot longer than it runs (I1, I2). */
import { type Attempt, holdsFence, isOut, isSettled } from '../domain/job.ts';
import { leaseId } from '../domain/lease.ts';
import { type Engine, giveBackForGood, leaveFenced } from './engine.ts';
import { type Flight, hasGivenBack, isAbandoned } from './flight.ts';
import type { GivingUp } from './giving-up.ts';

export interface Commits {
  /** False: its slot was given away. A ledger that does not answer is asked again for as long as the attempt goes on. */
  now(flight: Flight, of: Attempt): Promise<boolean>;
  /** Its lease is young enough to last until a commit that comes later: a reservation is asked for before its job is sent. */
  canWait(flight: Flight, heardAt: number): boolean;
  later(flight: Flight, heardAt: number): void;
  /** The attempt was over before its commit was answered: what that took belongs to nobody. */
  undo(flight: Flight, of: Attempt): Promise<void>;
  /** Its slot was given away. */
  loseSlot(flight: Flight, of: Attempt): Promise<void>;
}

/** Far less than a reservation lasts, so that a commit is made before its lease ends. */
const AGAIN_MS = 250;

export function createCommits(engine: Engine, givingUp: GivingUp): Commits {
  const { ledger, settings, wheel } = engine;

  async function now(flight: Flight, of: Attempt): Promise<boolean> {
    const { nodeId } = of;
    const lease = leaseId(flight.job.jobId, of.attempt);
    try {
      const committed = await ledger.commit(nodeId, lease, settings.jobTimeoutMs + settings.leaseGraceMs);
      if (committed.kind === 'unknown_node') return true;
      engine.fleet.setLoad(nodeId, committed);
      return committed.kind !== 'lost';
    } catch (fault) {
      engine.log.warn({ node_id: nodeId, lease, err: fault }, 'a commit did not answer');
      wheel.set(AGAIN_MS, () => void commit(flight, of));
      return true;
    }
  }

  async function commit(flight: Flight, of: Attempt): Promise<void> {
    if (!goesOn(flight, of)) return;
    const hasRoom = await now(flight, of);
    if (isAbandoned(flight)) return;
    // It may have been sent to a master which is none any more, and so come after the attempt has ended.
    if (isOver(flight, of)) await undo(flight, of);
    else if (!hasRoom) await loseSlot(flight, of);
  }

  /** Not one that is just being ended: its slot is given back already, and must not be taken again. */
  const goesOn = (flight: Flight, of: Attempt): boolean =>
    engine.flights.get(flight.job.jobId) === flight &&
    isOut(flight.job) &&
    !isOver(flight, of) &&
    !flight.isSettling &&
    flight.givenUp !== of.attempt &&
    !isAbandoned(flight);

  function undo(flight: Flight, { nodeId, attempt }: Attempt): Promise<void> {
    const lease = leaseId(flight.job.jobId, attempt);
    return hasGivenBack(flight, attempt)
      ? Promise.resolve(giveBackForGood(engine, nodeId, lease))
      : leaveFenced(engine, nodeId, lease);
  }

  async function loseSlot(flight: Flight, { nodeId, attempt }: Attempt): Promise<void> {
    engine.meter.count('scheduler_leases_lost_total');
    engine.link.cancel(nodeId, flight.job.jobId, 'lease_lost');
    const message = `${nodeId} acknowledged after its slot had been given away`;
    if (isOut(flight.job) && holdsFence(flight.job, nodeId, attempt))
      await givingUp.giveUp(flight, { code: 'NODE_OVERLOADED', message, isCounted: true, side: 'open' });
  }

  function commitIfRunning(flight: Flight): void {
    const { state, fence } = flight.job;
    if (state === 'RUNNING' && fence !== undefined) void commit(flight, fence);
  }

  return {
    now,
    canWait: (flight, heardAt) =>
      ledger.commitDelayMs !== undefined &&
      heardAt - flight.sentAt + ledger.commitDelayMs < settings.reservationTtlMs / 2,
    later: (flight, heardAt) =>
      void wheel.setAt(heardAt + (ledger.commitDelayMs ?? 0), commitIfRunning, flight),
    undo,
    loseSlot,
  };
}

/** Another attempt has the job by now, or nobody; or the node has had its last word on this one. */
export const isOver = (flight: Flight, { nodeId, attempt }: Attempt): boolean =>
  isSettled(flight.job.state) || !holdsFence(flight.job, nodeId, attempt) || hasGivenBack(flight, attempt);
