/** How long no work was done, by fault: from invented histories. */
import { describe, expect, it } from 'vitest';
import type { HistoryEvent } from '../../../packages/simulation/dist/history.js';
import { longestGap, unavailabilityOf } from '../../src/chaos/report/availability.ts';

const results = (...moments: readonly number[]): HistoryEvent[] =>
  moments.flatMap((at): HistoryEvent[] => {
    const about = { client: 'c', request: `r${at}` };
    return [
      { at, kind: 'accepted', ...about, job: `j${at}` },
      { at, kind: 'outcome', ...about, result: { by: undefined, words: 'w' } },
    ];
  });
const fault = (
  number: number,
  what: 'master_killed' | 'node_cut',
  from: number,
  to: number,
): HistoryEvent[] => [
  { at: from, kind: 'fault_began', fault: number, what, target: 't' },
  { at: to, kind: 'fault_ended', fault: number },
];
const inOrder = (...parts: readonly (readonly HistoryEvent[])[]): HistoryEvent[] =>
  parts.flat().sort((one, other) => one.at - other.at);

describe('unavailability', () => {
  it('is the longest time between two events, and between them and the ends', () => {
    expect(longestGap([5, 12, 20], 10, 30)).toBe(10);
    expect(longestGap([11, 19, 29], 10, 30)).toBe(10);
    expect(longestGap([], 10, 30)).toBe(20);
  });

  it('is reported by kind of fault, from its beginning, while work comes', () => {
    const history = inOrder(
      results(900, 1_100, 3_400, 3_500, 5_000, 7_000),
      fault(1, 'master_killed', 1_000, 3_000),
      [{ at: 7_100, kind: 'quiet' }],
    );
    expect(unavailabilityOf(history)).toEqual([
      { kind: 'master_killed', count: 1, acceptingMs: 2_300, finishingMs: 2_300 },
    ]);
  });

  it('reports no figure for a small fault during a large one', () => {
    const history = inOrder(
      results(1_500, 30_000),
      fault(1, 'master_killed', 1_000, 3_000),
      fault(2, 'node_cut', 2_000, 2_000),
    );
    expect(unavailabilityOf(history)[1]).toEqual({
      kind: 'node_cut',
      count: 1,
      acceptingMs: undefined,
      finishingMs: undefined,
    });
  });
});
