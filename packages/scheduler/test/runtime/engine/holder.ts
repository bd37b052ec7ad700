/** A node whose socket another instance holds: that one writes to it, and writes DISPATCHED, before the driver hears of either. */
import type { JobRecord } from '../../../src/domain/job.ts';
import type { Clock } from '../../../src/ports/clock.ts';
import type { JobStore } from '../../../src/ports/job-store.ts';
import type { Assignment, Delivery } from '../../../src/ports/node-link.ts';

/** The record after the holder's write; undefined: the job has moved on, and the holder leaves it alone. */
export async function writeDispatched(
  store: JobStore,
  clock: Clock,
  { job, nodeId, attempt }: Assignment,
): Promise<JobRecord | undefined> {
  const moved = await store.move(
    job.jobId,
    { state: job.state, fenceAttempt: job.fence?.attempt ?? 0 },
    {
      state: 'DISPATCHED',
      fence: { nodeId, attempt },
      intent: null,
      entry: { state: 'DISPATCHED', at: clock.now(), attempt, nodeId },
    },
  );
  return moved.kind === 'moved' ? moved.job : undefined;
}

/** How a holder answers: with the record, and of which connection it speaks. */
export async function deliverAsHolder(
  store: JobStore,
  clock: Clock,
  assignment: Assignment,
  generation: number,
): Promise<Delivery> {
  const job = await writeDispatched(store, clock, assignment);
  return job === undefined
    ? { kind: 'undeliverable', reason: 'moved_on' }
    : { kind: 'written', job, generation };
}
