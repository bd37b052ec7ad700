/** The sending rate, as properties of the protocol's rules. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  applyBackpressure,
  type BackpressureAction,
  DEFAULT_RESUME_MS,
  FRAMES_AT_ONCE,
  FRAMES_PER_SECOND,
  LONGEST_RESUME_MS,
  SLOW_FRAME_MS,
  sent,
  unlimitedPace,
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

/** Sends as soon as allowed, all the time, and records when. */
function sendGreedily(requests: readonly Asked[]): { times: number[]; pressed: (Asked & { at: number })[] } {
  let now = 0;
  let pace = unlimitedPace(now);
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

/** Whether a kind of request is in force at a time: the last one of its kind counts. */
const isInForce = (pressed: readonly (Asked & { at: number })[], isPause: boolean, time: number): boolean => {
  const last = pressed.filter(({ action, at }) => (action === 'PAUSE') === isPause && at <= time).at(-1);
  return last !== undefined && time < last.at + lengthOf(last);
};

describe('pacing', () => {
  it('no frame is sent in a pause, and one per half second when slow', () => {
    fc.assert(
      fc.property(fc.array(asked, { minLength: 1, maxLength: 8 }), (requests) => {
        const { times, pressed } = sendGreedily(requests);
        for (const [at, time] of times.entries()) {
          // A frame sent at the same time as a request was sent before it.
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

  it('the rate never exceeds its own limit', () => {
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

  it('after the named wait a frame may always be sent', () => {
    fc.assert(
      fc.property(fc.array(asked, { maxLength: 8 }), fc.nat(10_000), (requests, start) => {
        let pace = unlimitedPace(start);
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

  it('backpressure ends with the session', () => {
    expect(waitMs(withoutBackpressure(applyBackpressure(unlimitedPace(0), 'PAUSE', 1_000, 0)), 0)).toBe(0);
  });
});
