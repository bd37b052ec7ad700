/** The model of ten languages counts what the planner really plans. */
import { expect, it } from 'vitest';
import { serve, slotSecondsOf } from '../src/stages.ts';

it.each([
  ['staged', 10, true, 24.55, 21],
  ['whole', 10, true, 42.1, 10],
  ['staged', 10, false, 16.55, 11],
  ['staged', 1, true, 4.21, 1],
] as const)(
  '%s, %i languages, spoken %s: %d slot-seconds in %i jobs',
  async (way, targets, isSpoken, seconds, jobs) => {
    const served = await serve({ way, targets, isSpoken, utterances: 5 });
    expect(served.slotSeconds).toBeCloseTo(seconds, 3);
    expect(served.jobs).toBe(jobs);
    expect(slotSecondsOf({ way, targets, isSpoken })).toBeCloseTo(seconds, 3);
    expect(served.first.length).toBeGreaterThan(0);
    expect(served.last[0]).toBeGreaterThanOrEqual(served.first[0] ?? Number.NaN);
  },
);
