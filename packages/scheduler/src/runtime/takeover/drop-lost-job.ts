/** Drops jobs that another instance drives: nothing is sent to their nodes or written to the ledger. */
import type { DispatchOutcome } from '../../domain/dispatch.ts';
import type { Engine } from '../engine.ts';
import type { InFlightJob } from '../in-flight-job.ts';

/** From now on no call under way for the job writes or sends anything. */
export function dropJob(engine: Engine, flight: InFlightJob): void {
  flight.driving = 'elsewhere';
  flight.attemptTimer?.cancel();
  flight.deadlineTimer?.cancel();
  flight.stopWaiting?.();
  const { jobId } = flight.job;
  if (engine.inFlightJobs.get(jobId) !== flight) return;
  engine.inFlightJobs.remove(flight);
  engine.audio.drop(jobId);
  const repeats = flight.repeats ?? [];
  flight.repeats = undefined;
  for (const answer of repeats) answer(DRIVEN_ELSEWHERE);
}

export function dropAll(engine: Engine): void {
  engine.drops += 1;
  engine.recentWrites?.clear();
  const inFlightJobs = [...engine.inFlightJobs.all()];
  // Mark all before removing the first: its free quota unit would wake another of them, which would reserve a slot.
  for (const flight of inFlightJobs) flight.driving = 'elsewhere';
  for (const flight of inFlightJobs) dropJob(engine, flight);
}

/** A repeated request finds the job at its new driver. */
export const DRIVEN_ELSEWHERE: Extract<DispatchOutcome, { kind: 'refused' }> = {
  kind: 'refused',
  code: 'SCHEDULER_DEPENDENCY_DOWN',
  message: 'another instance took the job over before it had a node; repeat the request',
};
