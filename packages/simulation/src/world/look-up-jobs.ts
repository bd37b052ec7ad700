/** Simulation: reads the record of every job in the history, at the end of the run. */

import type { VirtualTime } from '../../../scheduler/dist/plan/kernel/virtual-time.js';
import { resultOf } from '../clients/client-world.ts';
import { ofKind, type Recorder } from '../history.ts';
import type { SimulatedInstance } from '../instance/simulated-instance.ts';

/** So few at once that no read has to wait. */
const AT_ONCE = 64;
const LOOK_MS = 20;

export async function lookUpJobs(deps: {
  readonly time: VirtualTime;
  readonly recorder: Recorder;
  readonly instances: () => readonly SimulatedInstance[];
}): Promise<void> {
  const { time, recorder } = deps;
  const jobs = [...new Set(ofKind(recorder.history, 'assigned', 'accepted').flatMap(({ job }) => job ?? []))];
  const instances = deps.instances();
  for (let from = 0; from < jobs.length; from += AT_ONCE) {
    for (const [at, job] of jobs.slice(from, from + AT_ONCE).entries())
      void instances[at % instances.length]?.core.reader.get(job).then(
        (found) => {
          const result = found && resultOf(found);
          recorder.record({
            kind: 'looked_up',
            job,
            state: found?.state,
            timeline: [],
            ...(result !== undefined && { result }),
          });
        },
        // No fault is under way: a store that does not answer now breaks other invariants.
        () => {},
      );
    await time.runUntil(time.now() + LOOK_MS);
  }
}
