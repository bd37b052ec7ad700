/** Takes that wait at a mailbox: when they subscribe and when they read. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LOOK_EVERY_MS } from '../../../../src/adapters/redis/node-mailbox/waiting-takes.ts';
import { isPending } from '../../../contracts/harness.ts';
import { startMailbox } from './mailbox-rig.ts';

const NODE = 'node-1';
const POLL = { max: 16, waitMs: 30_000 };
const NOW = { max: 16, waitMs: 0 };
const WORK_MS = 300;

describe('a poll at a mailbox', () => {
  it('takes an existing entry without subscribing', async () => {
    const { mailbox, entry, commands } = startMailbox();
    await mailbox.put(NODE, entry());
    expect(await mailbox.take(NODE, POLL)).toHaveLength(1);
    expect(commands()).toEqual(['put-entry', 'take-entries']);
  });

  it('subscribes while it waits, and no longer', async () => {
    const { mailbox, clock, entry, isListening } = startMailbox();
    const polling = mailbox.take(NODE, POLL);
    await clock.advance(1);
    expect(isListening(NODE)).toBe(true);
    await mailbox.put(NODE, entry());
    expect(await polling).toHaveLength(1);
    expect([isListening(NODE), clock.pending()]).toEqual([false, 0]);
  });

  it('reads every two seconds, also without a notice', async () => {
    const { mailbox, clock, state, entry } = startMailbox();
    state.notifies = false;
    const polling = mailbox.take(NODE, POLL);
    await clock.advance(1);
    await mailbox.put(NODE, entry());
    await clock.advance(LOOK_EVERY_MS - 2);
    expect(await isPending(polling)).toBe(true);
    await clock.advance(2);
    expect(await polling).toHaveLength(1);
  });

  it('reads periodically when it cannot subscribe', async () => {
    const { mailbox, clock, state, entry } = startMailbox();
    state.canSubscribe = false;
    const polling = mailbox.take(NODE, POLL);
    await clock.advance(1);
    await mailbox.put(NODE, entry());
    await clock.advance(LOOK_EVERY_MS);
    expect(await polling).toHaveLength(1);
  });

  it('waits on when another poll took the entry, and gets the next', async () => {
    const { mailbox, clock, entry } = startMailbox();
    const takes = [mailbox.take(NODE, POLL), mailbox.take(NODE, POLL)] as const;
    await clock.advance(1);
    await mailbox.put(NODE, entry());
    expect(await takes[0]).toHaveLength(1);
    await clock.advance(1);
    expect(await isPending(takes[1])).toBe(true);
    await mailbox.put(NODE, entry());
    expect(await takes[1]).toHaveLength(1);
  });

  it('reads when another woken poll left without reading', async () => {
    const { mailbox, clock, entry } = startMailbox();
    const abort = new AbortController();
    const first = mailbox.take(NODE, { ...POLL, signal: abort.signal });
    const second = mailbox.take(NODE, POLL);
    await clock.advance(1);
    const put = mailbox.put(NODE, entry());
    abort.abort();
    await put;
    expect([...(await first), ...(await second)]).toHaveLength(1);
  });

  it('never waits while the mailbox has an entry', async () => {
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
          else if (act === 'leave') await clock.advance(2 * LOOK_EVERY_MS);
          else [...polls][0]?.abort();
        }
        // Every pending read, and the takes it wakes, come to their end.
        await clock.advance(40 * (answerMs + 1));
        expect(polls.size > 0 && lying(NODE) > 0).toBe(false);
      }),
      { numRuns: 200 },
    );
  });
});
