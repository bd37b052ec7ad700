/** Contract of JobEvents between instances: a subscriber on one gets the moves of jobs on another. */
import { describe, expect, it } from 'vitest';
import { isSettled, type JobRecord, type JobState } from '../../src/domain/job.ts';
import type { Clock } from '../../src/ports/clock.ts';
import type { JobEvents } from '../../src/ports/job-events.ts';
import type { JobChange, JobStore } from '../../src/ports/job-store.ts';
import { createJobReader } from '../../src/runtime/job-reader.ts';
import { type Closable, eventually, perTest, type Timed, times } from './harness.ts';
import { changeTo, draftJob, draftRequest, expectedOf, RESULT, repeatOf } from './job-draft.ts';

export interface Instance {
  readonly store: JobStore;
  readonly events: JobEvents;
}

export interface JobEventsAcrossHarness extends Timed, Closable {
  readonly clock: Clock;
  readonly here: Instance;
  readonly there: Instance;
}

const FENCE = { nodeId: 'node-a', attempt: 1 };

/** Moves like the engine: it publishes the record that the store returned. */
async function move(
  { store, events }: Instance,
  job: JobRecord,
  state: JobState,
  parts: Omit<Partial<JobChange>, 'state'> = {},
): Promise<JobRecord> {
  const moved = await store.move(job.jobId, expectedOf(job), changeTo(state, parts));
  if (moved.kind !== 'moved') throw new Error(moved.kind);
  events.publish(moved.job);
  return moved.job;
}

async function finish(instance: Instance, job: JobRecord): Promise<JobRecord> {
  const reserved = await move(instance, job, 'RESERVED', { intent: FENCE });
  const dispatched = await move(instance, reserved, 'DISPATCHED', { fence: FENCE, intent: null });
  const running = await move(instance, dispatched, 'RUNNING');
  const finished = await move(instance, running, 'FINISHED', { result: RESULT });
  return move(instance, finished, 'RELEASED');
}

export function jobEventsAcrossContract(name: string, open: () => Promise<JobEventsAcrossHarness>): void {
  describe(`JobEvents between instances: ${name}`, () => {
    const startWith = perTest(open);

    async function start() {
      const harness = await startWith();
      const admit = async (draft = draftJob(harness.clock.now())) => {
        const admitted = await harness.there.store.admit(draft);
        if (admitted.kind !== 'admitted') throw new Error(admitted.kind);
        return admitted.job;
      };
      const listen = (jobId: string, instance = harness.here) => {
        const received: JobRecord[] = [];
        const subscription = instance.events.subscribe(jobId, (job) => received.push(job));
        return { received, stop: () => subscription.kind === 'subscribed' && subscription.stop() };
      };
      const settle = (check: () => void) => eventually(harness, async () => check());
      return { ...harness, admit, listen, settle };
    }

    it('sends moves on another instance to a subscriber here', async () => {
      const { here, there, admit, listen, settle, advance } = await start();
      const job = await admit();
      const { received } = listen(job.jobId);
      await advance(50);
      const reserved = await move(there, job, 'RESERVED', { intent: FENCE });
      await settle(() => expect(received.at(-1)).toEqual(reserved));
      const failed = await move(there, reserved, 'FAILED', { failure: { code: 'X', message: 'why' } });
      await settle(() => expect(received.at(-1)).toEqual(failed));
      expect(await here.store.get(job.jobId)).toEqual(failed);
    });

    it('sends moves in order, each at most once, and always the last', async () => {
      const { there, admit, listen, settle, advance } = await start();
      const job = await admit();
      const { received } = listen(job.jobId);
      await advance(50);
      const last = await finish(there, job);
      await settle(() => expect(received.at(-1)).toEqual(last));
      await advance(50);
      const lengths = received.map(({ timeline }) => timeline.length);
      expect(lengths).toEqual([...new Set(lengths)].sort((a, b) => a - b));
    });

    it('sends the end to every subscriber, whenever it subscribes', async () => {
      const { clock, here, there, admit, advance } = await start();
      const reader = createJobReader({ clock, ...here });
      await Promise.all(
        times(40, async (index) => {
          const job = await admit();
          const ending = finish(there, job);
          await advance(index % 8);
          const settled = await reader.settled(job.jobId, 60_000);
          expect(settled !== undefined && isSettled(settled.state)).toBe(true);
          await ending;
        }),
      );
    });

    it('sends moves to subscribers on both instances until they stop', async () => {
      const { there, admit, listen, settle, advance } = await start();
      const job = await admit();
      const [mine, stopped, theirs] = [
        listen(job.jobId),
        listen(job.jobId),
        listen(job.jobId, there),
      ] as const;
      await advance(50);
      stopped.stop();
      const before = stopped.received.length;
      const last = await finish(there, job);
      await settle(() => {
        expect(mine.received.at(-1)).toEqual(last);
        expect(theirs.received.at(-1)).toEqual(last);
      });
      expect(stopped.received).toHaveLength(before);
    });

    it('sends moves of a job whose request is bound to another one', async () => {
      const { clock, there, admit, listen, settle, advance } = await start();
      const draft = draftRequest(clock.now());
      const job = await admit(draft);
      const { received } = listen(job.jobId);
      await advance(50);
      const failed = await move(there, job, 'FAILED', { failure: { code: 'X', message: '' } });
      await admit(repeatOf(draft));
      const released = await move(there, failed, 'RELEASED');
      await settle(() => expect(received.at(-1)).toEqual(released));
    });

    it('sends moves to a subscriber after a time without subscribers', async () => {
      const { there, admit, listen, settle, advance } = await start();
      const job = await admit();
      for (let round = 0; round < 3; round += 1) {
        const { stop } = listen(job.jobId);
        await advance(10);
        stop();
      }
      const { received } = listen(job.jobId);
      await advance(50);
      const last = await finish(there, job);
      await settle(() => expect(received.at(-1)).toEqual(last));
    });
  });
}
