/** Erlang's formula against its definition, and the estimates that use it. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { expectedWaitMs, slotsFor, waitProbability } from '../../src/domain/erlang.ts';

/** The definition, with factorials. */
function byDefinition(slots: number, load: number): number {
  const factorial = (n: number): number => (n <= 1 ? 1 : n * factorial(n - 1));
  const all = (load ** slots / factorial(slots)) * (slots / (slots - load));
  let rest = 0;
  for (let k = 0; k < slots; k += 1) rest += load ** k / factorial(k);
  return all / (rest + all);
}

describe('Erlang C', () => {
  it('agrees with its definition', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 60 }),
        fc.double({ min: 0.01, max: 0.99, noNaN: true }),
        (slots, use) => {
          expect(waitProbability(slots, use * slots)).toBeCloseTo(byDefinition(slots, use * slots), 8);
        },
      ),
    );
  });

  it('with one slot is the share of time in which the slot is used', () => {
    expect(waitProbability(1, 0.4)).toBeCloseTo(0.4, 12);
    expect(waitProbability(1, 0)).toBe(0);
    expect(waitProbability(1, 1)).toBe(1);
  });
});

describe('the expected wait', () => {
  const use = fc.record({
    slots: fc.integer({ min: 1, max: 500 }),
    used: fc.integer({ min: 0, max: 500 }),
    waiting: fc.integer({ min: 0, max: 500 }),
    holdMs: fc.constant(1_000),
  });

  it('never grows with one more slot', () => {
    fc.assert(
      fc.property(use, (given) => {
        const now = expectedWaitMs(given) ?? Number.NaN;
        const later = expectedWaitMs({ ...given, slots: given.slots + 1 }) ?? Number.NaN;
        expect(later).toBeLessThanOrEqual(now + 1e-9);
      }),
    );
    // Where the rule changes from one formula to the other.
    for (let slots = 1; slots <= 500; slots += 1) {
      const given = { slots, used: slots, waiting: 0, holdMs: 1_000 };
      const more = expectedWaitMs({ ...given, slots: slots + 1 }) ?? Number.NaN;
      expect(more).toBeLessThanOrEqual(expectedWaitMs(given) ?? Number.NaN);
    }
  });

  it('is that of the queue in front while no slot is free', () => {
    expect(expectedWaitMs({ slots: 4, used: 4, waiting: 3, holdMs: 1_000 })).toBe(1_000);
    expect(expectedWaitMs({ slots: 0, used: 0, waiting: 3, holdMs: 1_000 })).toBeUndefined();
  });

  it('the wanted slots suffice, and one less does not', () => {
    fc.assert(
      fc.property(use, fc.integer({ min: 1, max: 2_000 }), (given, targetMs) => {
        const wanted = slotsFor(given, targetMs);
        expect(expectedWaitMs({ ...given, slots: wanted })).toBeLessThanOrEqual(targetMs);
        const fewer = wanted - 1;
        if (fewer > given.used + given.waiting)
          expect(expectedWaitMs({ ...given, slots: fewer })).toBeGreaterThan(targetMs);
      }),
    );
  });
});
