/** How long a node probably needs for a job, by what was learnt about its speed. */
import type { NodeId } from '../../domain/ids.ts';
import type { Engine } from '../engine.ts';
import type { InFlightJob } from '../in-flight-job.ts';
import { crowding, knownPace, workOf } from '../select/node-speeds.ts';

/** From the send on. Undefined: no job of this kind has ended, or the length of this one is not known. */
export function expectedRunMs(
  { speeds, fleet }: Pick<Engine, 'speeds' | 'fleet'>,
  { job, compiled }: Pick<InFlightJob, 'job' | 'compiled'>,
  nodeId: NodeId,
): number | undefined {
  const kind = speeds?.kind(compiled.query.key);
  const work = workOf(job);
  if (kind === undefined || work === undefined) return undefined;
  const { used = 1, max = 1 } = fleet.load(nodeId) ?? {};
  return knownPace(kind, fleet.table.indexOf(nodeId), nodeId) * work * crowding(used, max);
}
