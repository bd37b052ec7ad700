/** How fast audio may leave, by property against the words of the protocol. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  applyBackpressure,
  type BackpressureAction,
  DEFAULT_RESUME_MS,
  FRAMES_AT_ONCE,
  FRAMES_PER_SECOND,
  freely,
  LONGEST_RESUME_MS,
  SLOW_FRAME_MS,
  sent,
  waitMs,
  withoutBackpressure,
} from '../../src/client/pacing.ts';

interface Asked {
  readonly action: BackpressureAction;
  readonly resumeAfterMs: number | undefined;
  readonly passMs: number;
}

const asked: fc.Arbitrary<Asked> = fc.record({
  action: fc.constantFrom<BackpressureAction>('PAUSE', 'SLOW_DOWN', 'BUSY'),
  resumeAfterMs: fc.option(fc.integer({ min: 0, max: 200_000 }), { nil: undefined }),
  passMs: fc.integer({ min: 0, max: 10_000 }),
});

/** Sends as soon as it may, all the time, and notes when. */
function sendGreedily(requests: readonly Asked[]): { times: number[]; pressed: (Asked & { at: number })[] } {
  let now = 0;
  let pace = freely(now);
  const times: number[] = [];
  const pressed: (Asked & { at: number })[] = [];
  const spend = (until: number): void => {
    for (let wait = waitMs(pace, now); now + wait <= until; wait = waitMs(pace, now)) {
      now += wait;
      times.push(now);
      pace = sent(pace, now);
    }
    now = until;
  };
  for (const each of requests) {
    pressed.push({ ...each, at: now });
    pace = applyBackpressure(pace, each.action, each.resumeAfterMs, now);
    spend(now + each.passMs);
  }
  spend(now + 5_000);
  return { times, pressed };
}

const lengthOf = ({ resumeAfterMs }: Asked): number =>
  Math.min(resumeAfterMs ?? DEFAULT_RESUME_MS, LONGEST_RESUME_MS);

/** Whether a kind of request is in force at a time: the last one of it counts. */
const isInForce = (pressed: readonly (Asked & { at: number })[], isPause: boolean, time: number): boolean => {
  const last = pressed.filter(({ action, at }) => (action === 'PAUSE') === isPause && at <= time).at(-1);
  return last !== undefined && time < last.at + lengthOf(last);
};

describe('pacing', () => {
  it('sends nothing in a pause, and one frame per half second while slow', () => {
    fc.assert(
      fc.property(fc.array(asked, { minLength: 1, maxLength: 8 }), (requests) => {
        const { times, pressed } = sendGreedily(requests);
        for (const [at, time] of times.entries()) {
          // A frame that left in the very moment of a request left before it.
          const isAtRequest = pressed.some((each) => each.at === time);
          if (isAtRequest) continue;
          expect(isInForce(pressed, true, time)).toBe(false);
          const last = times[at - 1];
          if (last !== undefined && isInForce(pressed, false, time))
            expect(time - last).toBeGreaterThanOrEqual(SLOW_FRAME_MS);
        }
      }),
      { numRuns: 200 },
    );
  });

  it('never exceeds its own rate', () => {
    fc.assert(
      fc.property(fc.array(asked, { maxLength: 6 }), (requests) => {
        const { times } = sendGreedily(requests);
        for (const [at, time] of times.entries()) {
          const first = times[at + FRAMES_AT_ONCE + 10];
          if (first !== undefined)
            expect(first - time).toBeGreaterThanOrEqual((10 * 1_000) / FRAMES_PER_SECOND - 1);
        }
      }),
      { numRuns: 100 },
    );
  });

  it('always ends a wait: what it names is enough', () => {
    fc.assert(
      fc.property(fc.array(asked, { maxLength: 8 }), fc.nat(10_000), (requests, start) => {
        let pace = freely(start);
        for (const { action, resumeAfterMs } of requests)
          pace = applyBackpressure(pace, action, resumeAfterMs, start);
        for (let frames = 0; frames < FRAMES_AT_ONCE; frames += 1) pace = sent(pace, start);
        let now = start;
        for (let tries = 0; waitMs(pace, now) > 0; tries += 1) {
          expect(tries).toBeLessThan(4);
          now += waitMs(pace, now);
        }
        expect(now - start).toBeLessThanOrEqual(LONGEST_RESUME_MS);
      }),
    );
  });

  it('forgets with the session what was asked of it', () => {
    expect(waitMs(withoutBackpressure(applyBackpressure(freely(0), 'PAUSE', 1_000, 0)), 0)).toBe(0);
  });
});
