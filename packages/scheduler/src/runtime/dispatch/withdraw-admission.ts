/** Failure path: removes the record, binding and audio of a job that found no node. */
import { isSettled } from '../../domain/job.ts';
import { catchUp, dropForOtherDriver } from '../attempts/record-move.ts';
import type { Timeouts } from '../attempts/timeouts.ts';
import { advance, type Engine } from '../engine.ts';
import { type InFlightJob, isDropped } from '../in-flight-job.ts';
import type { DiscardQueue } from './discard-queue.ts';

/** False: the job was settled first, or another instance drives it. */
export type Withdraw = (flight: InFlightJob) => Promise<boolean>;

export function createWithdrawAdmission(
  engine: Engine,
  discardQueue: DiscardQueue,
  timeouts: Timeouts,
): Withdraw {
  /** The record was moved before the discard. */
  async function keep(flight: InFlightJob): Promise<void> {
    const stored = await engine.store.get(flight.job.jobId).catch(() => undefined);
    if (isDropped(flight)) return;
    flight.driving = 'ours';
    if (stored !== undefined) catchUp(flight, stored);
    if (!isSettled(flight.job.state)) {
      timeouts.startJob(flight);
      return;
    }
    forget(flight);
    await advance(engine, flight, 'released');
  }

  function forget(flight: InFlightJob): void {
    engine.audio.drop(flight.job.jobId);
    engine.inFlightJobs.remove(flight);
  }

  return async function withdraw(flight) {
    flight.driving = 'withdrawn';
    flight.deadlineTimer?.cancel();
    const taken = await discardQueue.now(flight.job.jobId);
    if (isDropped(flight)) return false;
    if (taken === 'kept') await keep(flight);
    else if (taken === 'driven_elsewhere') dropForOtherDriver(engine, flight);
    // After the discard: a repeated request that arrives before must find the flight, and get the same refusal.
    else forget(flight);
    return taken === 'discarded' || taken === 'later';
  };
}
