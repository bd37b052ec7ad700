/** The offset of the store's clock, computed from answers of different speed. */
import { describe, expect, it } from 'vitest';
import { createStoreClock } from '../../../src/cluster/membership/store-clock.ts';

/** An answer of a store that is `ahead`, with the time of the request and of the reply. */
const answered = (sentAt: number, ahead: number, there: number, back: number) => ({
  sentAt,
  receivedAt: sentAt + there + back,
  at: sentAt + there + ahead,
});

describe('the offset of the store’s clock', () => {
  it('is zero before the first answer', () => {
    expect(createStoreClock().offsetMs()).toBe(0);
  });

  it('comes from the fastest of the last five answers', () => {
    const time = createStoreClock();
    time.note(answered(1_000, 500, 1, 1));
    time.note(answered(2_000, 500, 300, 10));
    expect(time.offsetMs()).toBe(500);
    for (const sentAt of [3_000, 4_000, 5_000, 6_000]) time.note(answered(sentAt, 500, 40, 0));
    // The fastest answer is the sixth by now.
    expect(time.offsetMs()).toBe(520);
  });

  it('is wrong by at most half of the round trip', () => {
    const time = createStoreClock();
    time.note(answered(1_000, -7_000, 80, 0));
    expect(Math.abs(time.offsetMs() + 7_000)).toBeLessThanOrEqual(40);
  });

  it.each([90_000, -90_000])('follows at once when a clock was set by %i ms', (by) => {
    const time = createStoreClock();
    for (const sentAt of [1_000, 2_000, 3_000]) time.note(answered(sentAt, 500, 1, 1));
    time.note(answered(4_000, 500 + by, 20, 20));
    expect(time.offsetMs()).toBe(500 + by);
  });

  it('keeps the fast answer while slower ones do not contradict it', () => {
    const time = createStoreClock();
    time.note(answered(1_000, 500, 1, 1));
    time.note(answered(2_000, 500, 0, 9));
    time.note(answered(3_000, 503, 1, 1));
    expect(time.offsetMs()).toBe(503);
    time.note(answered(4_000, 507, 4, 4));
    expect(time.offsetMs()).toBe(503);
  });
});
