/** The deadline of a job after a takeover: it follows from the remaining time of the record, not from the clock that set it. */
import { expect, it } from 'vitest';
import { deadlineOf } from '../../src/adapters/shared-jobs/record-ttl.ts';
import type { Clock } from '../../src/ports/clock.ts';

const clock = { now: () => 1_000_000 } as Clock;
const due = (deadlineAt: number, ttlMs: number): number =>
  deadlineOf({ deadlineAt }, ttlMs, { clock, liveMarginMs: 5_000 });

it('follows from the remaining time of the record if clocks differ', () => {
  expect(due(1_060_000, 15_000)).toBe(1_010_000);
  expect(due(1_010_400, 15_000)).toBe(1_010_400);
  expect(due(1_060_000, Number.POSITIVE_INFINITY)).toBe(1_060_000);
});

it('has passed when only the margin of the record is left', () => {
  expect(due(1_060_000, 4_000)).toBe(1_000_000);
  expect(due(990_000, 4_000)).toBe(990_000);
});
