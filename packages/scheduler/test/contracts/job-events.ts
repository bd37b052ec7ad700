/** Contract of JobEvents: its law as tests, for any adapter. */
import { describe, expect, it } from 'vitest';
import type { JobRecord, JobState } from '../../src/domain/job.ts';
import type { JobEvents } from '../../src/ports/job-events.ts';
import { type Closable, eventually, fresh, perTest, type Timed, times } from './harness.ts';
import { draftJob } from './job-draft.ts';

export interface JobEventsHarness extends Timed, Closable {
  readonly events: JobEvents;
}

export type OpenJobEvents = (limits: { maxListeners: number }) => Promise<JobEventsHarness>;

const ALL_STATES: readonly JobState[] = ['RESERVED', 'DISPATCHED', 'RUNNING', 'FINISHED', 'RELEASED'];

export function jobEventsContract(name: string, open: OpenJobEvents): void {
  describe(`JobEvents: ${name}`, () => {
    const startWith = perTest(open);

    async function start(maxListeners = 100) {
      const harness = await startWith({ maxListeners });
      const job = draftJob(0);
      const publish = (...states: JobState[]) => {
        for (const state of states) harness.events.publish({ ...job, state });
      };
      /** Subscribes and keeps the received records. */
      const listen = (jobId = job.jobId, onReceived?: (received: JobRecord) => void) => {
        const received: JobState[] = [];
        const subscription = harness.events.subscribe(jobId, (moved) => {
          received.push(moved.state);
          onReceived?.(moved);
        });
        if (subscription.kind === 'full') throw new Error('full');
        return { received, stop: subscription.stop };
      };
      const settle = (check: () => void) => eventually(harness, async () => check());
      /** Long enough for pending notices to arrive. */
      const rest = () => harness.advance(50);
      return { ...harness, job, publish, listen, settle, rest };
    }

    it('sends every move since the subscription to every subscriber, in order', async () => {
      const { publish, listen, settle } = await start();
      const early = listen();
      publish('CREATED');
      await settle(() => expect(early.received).toEqual(['CREATED']));
      const late = listen();
      publish(...ALL_STATES);
      await settle(() => {
        expect(early.received).toEqual(['CREATED', ...ALL_STATES]);
        expect(late.received).toEqual(ALL_STATES);
      });
    });

    it('passes the published record', async () => {
      const { events, job, settle } = await start();
      let seen: JobRecord | undefined;
      events.subscribe(job.jobId, (moved) => {
        seen = moved;
      });
      events.publish(job);
      await settle(() => expect(seen).toEqual(job));
    });

    it('sends nothing of other jobs, and works without subscribers', async () => {
      const { publish, listen, settle, rest } = await start();
      publish('CREATED');
      const other = listen(fresh('job'));
      const mine = listen();
      publish('RESERVED');
      await settle(() => expect(mine.received).toEqual(['RESERVED']));
      await rest();
      expect(other.received).toEqual([]);
    });

    it('sends nothing after unsubscribe, which may be repeated', async () => {
      const { publish, listen, settle, rest } = await start();
      const stopped = listen();
      const other = listen();
      publish('RESERVED');
      await settle(() => expect(stopped.received).toEqual(['RESERVED']));
      stopped.stop();
      stopped.stop();
      publish('DISPATCHED');
      await settle(() => expect(other.received).toEqual(['RESERVED', 'DISPATCHED']));
      await rest();
      expect(stopped.received).toEqual(['RESERVED']);
    });

    it('sends nothing to a subscriber that another has just stopped', async () => {
      const { publish, listen, settle, rest } = await start();
      const pair: { received: JobState[]; stop: () => void }[] = [];
      pair.push(listen(undefined, () => pair[1]?.stop()));
      pair.push(listen(undefined, () => pair[0]?.stop()));
      publish('RESERVED', 'DISPATCHED');
      await settle(() =>
        expect(pair.flatMap(({ received }) => received)).toEqual(['RESERVED', 'DISPATCHED']),
      );
      await rest();
      expect(pair.filter(({ received }) => received.length > 0)).toHaveLength(1);
    });

    it('lets a subscriber unsubscribe during a notification', async () => {
      const { publish, listen, settle, rest } = await start();
      const all = times(3, () => {
        const each: ReturnType<typeof listen> = listen(undefined, () => each.stop());
        return each;
      });
      const last = listen();
      publish('RESERVED', 'DISPATCHED');
      await settle(() => expect(last.received).toEqual(['RESERVED', 'DISPATCHED']));
      await rest();
      expect(all.map(({ received }) => received)).toEqual([['RESERVED'], ['RESERVED'], ['RESERVED']]);
    });

    it('isolates a subscriber that throws', async () => {
      const { publish, listen, settle } = await start();
      const before = listen();
      const throwing = listen(undefined, () => {
        throw new Error('subscriber broke');
      });
      const after = listen();
      expect(() => publish('RESERVED', 'DISPATCHED')).not.toThrow();
      await settle(() => {
        for (const { received } of [before, throwing, after])
          expect(received).toEqual(['RESERVED', 'DISPATCHED']);
      });
    });

    it('keeps the order when a subscriber publishes the next move', async () => {
      const { publish, listen, settle } = await start();
      const before = listen();
      const driver = listen(undefined, (moved) => {
        if (moved.state === 'RESERVED') publish('DISPATCHED');
        if (moved.state === 'DISPATCHED') publish('RUNNING');
      });
      const after = listen();
      publish('RESERVED');
      await settle(() => {
        for (const { received } of [before, driver, after])
          expect(received).toEqual(['RESERVED', 'DISPATCHED', 'RUNNING']);
      });
    });

    it('a subscription during a notification gets the next move first', async () => {
      const { publish, listen, settle, rest } = await start();
      const late: ReturnType<typeof listen>[] = [];
      const first = listen(undefined, () => late.push(listen()));
      publish('RESERVED');
      await settle(() => expect(first.received).toEqual(['RESERVED']));
      await rest();
      expect(late.map(({ received }) => received)).toEqual([[]]);
      publish('DISPATCHED');
      await settle(() => expect(late[0]?.received).toEqual(['DISPATCHED']));
    });

    it('treats one function subscribed twice as two subscribers', async () => {
      const { events, job, publish, settle, rest } = await start();
      let calls = 0;
      const listen = () => {
        calls += 1;
      };
      const first = events.subscribe(job.jobId, listen);
      events.subscribe(job.jobId, listen);
      publish('RESERVED');
      await settle(() => expect(calls).toBe(2));
      if (first.kind === 'subscribed') first.stop();
      publish('DISPATCHED');
      await settle(() => expect(calls).toBe(3));
      await rest();
      expect(calls).toBe(3);
    });

    it('I11 bounded: is full at its limit, and one unsubscribe makes room', async () => {
      const { events, job, publish, listen, settle, rest } = await start(3);
      const held = times(3, () => listen());
      let isRefusedCalled = false;
      const refuse = () => {
        isRefusedCalled = true;
      };
      expect(events.subscribe(job.jobId, refuse)).toEqual({ kind: 'full' });
      publish('RESERVED');
      for (const { received } of held) await settle(() => expect(received).toEqual(['RESERVED']));
      await rest();
      expect(isRefusedCalled).toBe(false);
      held[0]?.stop();
      held[0]?.stop();
      expect(events.subscribe(job.jobId, refuse)).toMatchObject({ kind: 'subscribed' });
      expect(events.subscribe(job.jobId, refuse)).toEqual({ kind: 'full' });
    });

    it('frees the room of ended subscriptions', async () => {
      const { events } = await start(2);
      for (let round = 0; round < 50; round += 1) {
        const subscription = events.subscribe(fresh('job'), () => undefined);
        expect(subscription.kind).toBe('subscribed');
        if (subscription.kind === 'subscribed') subscription.stop();
      }
    });
  });
}
