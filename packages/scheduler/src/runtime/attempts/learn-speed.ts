/** Hot path: what the end of an attempt says about the speed of its node. Does nothing unless the policy asks for speeds. */
import type { NodeId } from '../../domain/ids.ts';
import type { Engine } from '../engine.ts';
import type { InFlightJob } from '../in-flight-job.ts';
import { workOf } from '../select/node-speeds.ts';

type Learning = Pick<Engine, 'speeds' | 'fleet' | 'clock'>;

/** The attempt has brought its result. Called before its slot is released. */
export const learnFinished = (engine: Learning, flight: InFlightJob): void =>
  learn(engine, flight, 'finished');

/** The driver gives the attempt up: the node would have needed longer. */
export const learnGivenUp = (engine: Learning, flight: InFlightJob): void => learn(engine, flight, 'gaveUp');

function learn(
  { speeds, fleet, clock }: Learning,
  { job, compiled, attempts, sentAt }: InFlightJob,
  how: 'finished' | 'gaveUp',
): void {
  const { fence } = job;
  const regionOf = (nodeId: NodeId) => fleet.view(nodeId)?.region;
  // The time of an earlier attempt is not known any more.
  if (speeds === undefined || fence === undefined || fence.attempt !== attempts) return;
  const work = workOf(job);
  if (work === undefined) return;
  const { regions } = fleet;
  // Paces are shared between instances of several regions, so they do not contain the way.
  const wayMs = regions?.own === undefined ? 0 : regions.roundTripMs(regions.own, regionOf(fence.nodeId));
  const ms = Math.max(1, clock.precise() - sentAt - wayMs);
  speeds[how](compiled.query.key, fence.nodeId, ms, work, fleet.load(fence.nodeId), clock.now());
}
