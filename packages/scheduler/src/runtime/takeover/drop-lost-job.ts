/** Hot path: a job that others drive by now is dropped here without a word to anybody: not to its node, not to the ledger. */
import type { DispatchOutcome } from '../../domain/dispatch.ts';
import type { Engine } from '../engine.ts';
import type { InFlightJob } from '../in-flight-job.ts';

/** Nothing that is still under way on its behalf writes or sends from here on. */
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
  engine.recentlySettled?.clear();
  engine.recentlyReleased?.clear();
  engine.recentlyAbandoned?.clear();
  const inFlightJobs = [...engine.inFlightJobs.all()];
  // All before the first goes: the seat that it gives back would wake another, which would reserve a slot for nobody.
  for (const flight of inFlightJobs) flight.driving = 'elsewhere';
  for (const flight of inFlightJobs) dropJob(engine, flight);
}

/** A repeat finds the job where it is now. */
export const DRIVEN_ELSEWHERE: Extract<DispatchOutcome, { kind: 'refused' }> = {
  kind: 'refused',
  code: 'SCHEDULER_DEPENDENCY_DOWN',
  message: 'another instance took the job over before it had a node; repeat the request',
};
