/** When a job is due by the clock of whoever takes it over: what is left of its record says so, not the clock that set it. */
import { expect, it } from 'vitest';
import { deadlineOf } from '../../src/adapters/shared-jobs/record-ttl.ts';
import type { Clock } from '../../src/ports/clock.ts';

const clock = { now: () => 1_000_000 } as Clock;
const due = (deadlineAt: number, ttlMs: number): number =>
  deadlineOf({ deadlineAt }, ttlMs, { clock, liveMarginMs: 5_000 });

it('follows from what is left of its record, if the clocks differ', () => {
  expect(due(1_060_000, 15_000)).toBe(1_010_000);
  expect(due(1_010_400, 15_000)).toBe(1_010_400);
  expect(due(1_060_000, Number.POSITIVE_INFINITY)).toBe(1_060_000);
});

it('is over where the record only lasts for its margin, however far ahead the clock was that set it', () => {
  expect(due(1_060_000, 4_000)).toBe(1_000_000);
  expect(due(990_000, 4_000)).toBe(990_000);
});
