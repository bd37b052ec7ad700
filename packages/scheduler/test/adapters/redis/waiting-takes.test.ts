/** Takes that wait, by the clock: how long a mailbox is listened to, and when nobody need look into it. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ArrivalListener } from '../../../src/adapters/redis/node-mailbox/arrivals.ts';
import {
  createWaitingTakes,
  LINGER_MS,
  LOOK_EVERY_MS,
  MOST_LINGERING,
} from '../../../src/adapters/redis/node-mailbox/waiting-takes.ts';
import { isPending } from '../../contracts/harness.ts';
import { createManualClock } from '../../support/manual-clock.ts';
import { startMailbox } from './mailbox-rig.ts';

const NODE = 'node-1';
const POLL = { max: 16, waitMs: 30_000 };
const ONE = { max: 1, waitMs: 30_000 };
const NOW = { max: 16, waitMs: 0 };
const WORK_MS = 300;

/** A node has polled before: its mailbox is listened to, and was empty a moment ago. */
async function startPolled() {
  const rig = startMailbox();
  const { mailbox, clock, entry, asked } = rig;
  const polling = mailbox.take(NODE, POLL);
  await clock.advance(1);
  await mailbox.put(NODE, entry());
  expect(await polling).toHaveLength(1);
  asked();
  return rig;
}

describe('a node that polls again and again', () => {
  it('asks one take for each job, and listens once for all of them', async () => {
    const { mailbox, clock, entry, asked } = await startPolled();
    for (let job = 0; job < 20; job += 1) {
      await clock.advance(WORK_MS);
      const polling = mailbox.take(NODE, POLL);
      await clock.advance(WORK_MS);
      const put = entry();
      await mailbox.put(NODE, put);
      expect(await polling).toEqual([put]);
      expect(asked()).toEqual(['put-entry', 'take-entries']);
    }
  });

  it('looks for itself as often as ever when nothing comes', async () => {
    const { mailbox, clock, asked } = await startPolled();
    const polling = mailbox.take(NODE, { max: 16, waitMs: 5 * LOOK_EVERY_MS });
    await clock.advance(LOOK_EVERY_MS - 1);
    expect(asked()).toEqual([]);
    await clock.advance(1);
    expect(asked()).toEqual(['take-entries']);
    await clock.advance(4 * LOOK_EVERY_MS);
    expect([await polling, asked().length]).toEqual([[], 4]);
  });

  it('looks at once if it does not wait', async () => {
    const { mailbox, asked } = await startPolled();
    expect(await mailbox.take(NODE, NOW)).toEqual([]);
    expect(asked()).toEqual(['take-entries']);
  });

  it.each([
    ['something arrived while it was away', async (rig) => void (await rig.mailbox.put(NODE, rig.entry()))],
    [
      'it took as many as it asked for: there may be more',
      async (rig) => {
        for (let job = 0; job < 2; job += 1) await rig.mailbox.put(NODE, rig.entry());
        await rig.mailbox.take(NODE, ONE);
      },
    ],
    [
      'something arrived while it looked',
      async (rig) => {
        rig.state.answerMs = 5;
        const looking = rig.mailbox.take(NODE, NOW);
        await rig.mailbox.put(NODE, rig.entry());
        await rig.clock.advance(5);
        rig.state.answerMs = 0;
        await looking;
      },
    ],
    [
      'it left as it was handed something, which was put back',
      async (rig) => {
        const abort = new AbortController();
        await rig.mailbox.put(NODE, rig.entry());
        rig.state.isTelling = false;
        const taking = rig.mailbox.take(NODE, { ...POLL, signal: abort.signal });
        abort.abort();
        await taking;
      },
    ],
  ] satisfies [string, (rig: ReturnType<typeof startMailbox>) => Promise<void>][])(
    'looks at once if %s',
    async (_, happen) => {
      const rig = await startPolled();
      await happen(rig);
      expect(rig.lying(NODE)).toBe(1);
      const polling = rig.mailbox.take(NODE, POLL);
      await rig.clock.advance(0);
      expect(await isPending(polling)).toBe(false);
      expect(await polling).toHaveLength(1);
    },
  );

  it('looks at once while it is not listened to, and whoever comes tries to', async () => {
    const { mailbox, clock, state, entry, asked } = startMailbox();
    state.canSubscribe = false;
    for (let poll = 0; poll < 2; poll += 1) {
      const polling = mailbox.take(NODE, { max: 16, waitMs: 100 });
      await clock.advance(100);
      expect(await polling).toEqual([]);
      expect(asked()).toEqual(['ssubscribe', 'take-entries', 'take-entries']);
    }
    state.canSubscribe = true;
    const polling = mailbox.take(NODE, POLL);
    await clock.advance(1);
    await mailbox.put(NODE, entry());
    await clock.advance(0);
    expect(await polling).toHaveLength(1);
  });

  it('finds what nobody told within the time of a look, and listens anew, because more may not be told', async () => {
    const { mailbox, clock, state, entry, asked } = await startPolled();
    const polling = mailbox.take(NODE, POLL);
    state.isTelling = false;
    await mailbox.put(NODE, entry());
    await clock.advance(LOOK_EVERY_MS);
    expect(await polling).toHaveLength(1);
    expect(asked()).toEqual(['put-entry', 'take-entries', 'ssubscribe']);
  });

  it('goes on to wait without a look when another took what came, and is woken for the next', async () => {
    const { mailbox, clock, entry, asked } = await startPolled();
    const takes = [mailbox.take(NODE, POLL), mailbox.take(NODE, POLL)] as const;
    await clock.advance(1);
    await mailbox.put(NODE, entry());
    expect(await takes[0]).toHaveLength(1);
    await clock.advance(1);
    expect(await isPending(takes[1])).toBe(true);
    expect(asked()).toEqual(['put-entry', 'take-entries']);
    await mailbox.put(NODE, entry());
    expect(await takes[1]).toHaveLength(1);
  });

  it('looks when another was woken for what came and left without a look', async () => {
    const { mailbox, clock, entry } = await startPolled();
    const abort = new AbortController();
    const first = mailbox.take(NODE, { ...POLL, signal: abort.signal });
    const second = mailbox.take(NODE, POLL);
    await clock.advance(1);
    const put = mailbox.put(NODE, entry());
    abort.abort();
    await put;
    expect([...(await first), ...(await second)]).toHaveLength(1);
  });

  it('never waits beside something that lies there, through random histories', async () => {
    const step = fc.constantFrom('put', 'poll', 'poll', 'poll for one', 'take', 'abort', 'wait', 'leave');
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), fc.nat(3), async (steps, answerMs) => {
        const { mailbox, clock, state, entry, lying } = startMailbox();
        state.answerMs = answerMs;
        const polls = new Set<AbortController>();
        const poll = (max: number): void => {
          const abort = new AbortController();
          polls.add(abort);
          void mailbox
            .take(NODE, { ...POLL, max, signal: abort.signal })
            .finally(() => void polls.delete(abort));
        };
        for (const act of steps) {
          if (act === 'put') await mailbox.put(NODE, entry());
          else if (act === 'poll') poll(16);
          else if (act === 'poll for one') poll(1);
          else if (act === 'take') void mailbox.take(NODE, NOW);
          else if (act === 'wait') await clock.advance(WORK_MS);
          else if (act === 'leave') await clock.advance(LINGER_MS);
          else [...polls][0]?.abort();
        }
        // Every look that is under way, and what it wakes, comes to its end.
        await clock.advance(40 * (answerMs + 1));
        expect(polls.size > 0 && lying(NODE) > 0).toBe(false);
      }),
      { numRuns: 200 },
    );
  });
});

describe('a mailbox that nobody waits at any more', () => {
  it('is listened to for a while, and no longer', async () => {
    const { clock, mailbox, isListening, asked } = await startPolled();
    await clock.advance(LINGER_MS - 1);
    expect(isListening(NODE)).toBe(true);
    // Whoever is back in time begins that while anew.
    const polling = mailbox.take(NODE, { max: 16, waitMs: 2 * LINGER_MS });
    await clock.advance(2 * LINGER_MS);
    await polling;
    expect([isListening(NODE), asked().includes('ssubscribe')]).toEqual([true, false]);
    await clock.advance(LINGER_MS);
    expect([isListening(NODE), clock.pending()]).toEqual([false, 0]);
  });

  it('is listened to anew, and looked into, when somebody comes after that', async () => {
    const { clock, mailbox, entry, asked } = await startPolled();
    await clock.advance(LINGER_MS);
    await mailbox.put(NODE, entry());
    expect(await mailbox.take(NODE, POLL)).toHaveLength(1);
    expect(asked()).toEqual(['sunsubscribe', 'put-entry', 'ssubscribe', 'take-entries']);
  });

  it('is not listened to when its node is gone, unless somebody waits nevertheless', async () => {
    const { clock, mailbox, isListening, entry } = await startPolled();
    const polling = mailbox.take(NODE, POLL);
    await mailbox.forget(NODE);
    await clock.advance(0);
    expect(isListening(NODE)).toBe(true);
    await mailbox.put(NODE, entry());
    expect(await polling).toHaveLength(1);
    await mailbox.forget(NODE);
    await clock.advance(0);
    expect(isListening(NODE)).toBe(false);
  });

  it('I11 bounded: gives way to others when there are too many of them, the one that was left first', () => {
    const clock = createManualClock();
    const heard = new Map<string, ArrivalListener>();
    const takes = createWaitingTakes({
      clock,
      arrivals: {
        listen(nodeId, listener) {
          heard.set(nodeId, listener);
          return () => void heard.delete(nodeId);
        },
      },
    });
    const visit = (nodeId: string): void => takes.join(nodeId).leave();
    const waiting = takes.join('waits');
    for (let node = 0; node < MOST_LINGERING; node += 1) visit(`node-${node}`);
    visit('node-0');
    visit('one-more');
    expect(takes.size()).toBe(MOST_LINGERING + 1);
    expect([heard.has('node-0'), heard.has('node-1'), heard.has('waits')]).toEqual([true, false, true]);
    waiting.leave();
    expect([takes.size(), heard.has('node-2'), heard.has('waits')]).toEqual([MOST_LINGERING, false, true]);
  });
});
