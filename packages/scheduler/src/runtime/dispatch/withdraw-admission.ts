/** Hot path, when it ends badly: a job that found no node goes without a trace — unless it turns out that it has one. */
import { isSettled } from '../../domain/job.ts';
import { catchUp, loseToOther } from '../attempts/record-move.ts';
import type { Deadlines } from '../attempts/timeouts.ts';
import { advance, type Engine } from '../engine.ts';
import { type InFlightJob, isAbandoned } from '../in-flight-job.ts';
import type { Discards } from './discard-queue.ts';

/** Nothing of the request stays: not the record, not the binding, not the audio. False: it is not to be refused after all. */
export type Withdraw = (flight: InFlightJob) => Promise<boolean>;

export function createWithdrawAdmission(engine: Engine, discards: Discards, deadlines: Deadlines): Withdraw {
  /** It was sent, or settled, before it could be taken back. */
  async function keep(flight: InFlightJob): Promise<void> {
    const stored = await engine.store.get(flight.job.jobId).catch(() => undefined);
    if (isAbandoned(flight)) return;
    flight.driving = 'ours';
    if (stored !== undefined) catchUp(engine, flight, stored);
    if (!isSettled(flight.job.state)) {
      deadlines.startJob(flight);
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
    flight.driving = 'taken_back';
    flight.deadlineTimer?.cancel();
    const taken = await discards.now(flight.job.jobId);
    if (isAbandoned(flight)) return false;
    if (taken === 'kept') await keep(flight);
    else if (taken === 'driven_elsewhere') loseToOther(engine, flight);
    // Only now: a repeat that comes meanwhile must find the flight, and get the same refusal.
    else forget(flight);
    return taken === 'discarded' || taken === 'later';
  };
}
