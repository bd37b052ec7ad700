/** Spans of time give the same answers as a linear search. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createSpans, type Span } from '../../src/checker/spans.ts';

const time = fc.integer({ min: 0, max: 40 });
const spans = fc.array(
  fc
    .tuple(time, fc.integer({ min: 0, max: 10 }))
    .map(([from, length]): Span => ({ from, to: from + length })),
  { maxLength: 8 },
);

describe('spans', () => {
  it('give the same answers as a linear search', () => {
    fc.assert(
      fc.property(spans, time, time, (all, one, other) => {
        const [from, to] = [Math.min(one, other), Math.max(one, other)];
        const merged = createSpans(all);
        expect(merged.has(one)).toBe(all.some((span) => span.from <= one && one <= span.to));
        expect(merged.meets(from, to)).toBe(all.some((span) => span.from <= to && span.to >= from));
        let length = 0;
        for (let at = from; at < to; at++)
          if (all.some((span) => span.from <= at && at + 1 <= span.to)) length += 1;
        expect(merged.lengthWithin(from, to)).toBe(length);
      }),
    );
  });

  it('may never end', () => {
    const merged = createSpans([{ from: 5, to: Number.POSITIVE_INFINITY }]);
    expect(merged.has(1e9)).toBe(true);
    expect(merged.lengthWithin(0, 25)).toBe(20);
    expect(merged.find(4)).toBeUndefined();
  });

  it('are kept when they are over', () => {
    const merged = createSpans([
      { from: 5, to: 7 },
      { from: 1, to: 2 },
    ]);
    expect(merged.lastBy(0)).toBeUndefined();
    expect(merged.lastBy(4)).toEqual({ from: 1, to: 2 });
    expect(merged.lastBy(5)).toEqual({ from: 5, to: 7 });
    expect(merged.lastBy(9)).toEqual({ from: 5, to: 7 });
  });
});
