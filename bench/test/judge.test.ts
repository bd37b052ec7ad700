/** Thresholds: of one figure, of a ratio to a peer, at a point of a curve, and of one end of it to the other. */
import { describe, expect, it } from 'vitest';
import { judge } from '../src/scenario/judge.ts';
import { readScenario } from '../src/scenario/read-scenario.ts';
import type { Point } from '../src/scenario/run-scenario.ts';

const declared = (threshold: string) =>
  readScenario(
    'own.toml',
    'own',
    `title = "t"\nmeasures = "decisions"\npeers = ["naive"]\n[vary]\nfield = "nodes"\nvalues = [100, 1000]\n[[thresholds]]\nfigure = "decision_cpu_us"\n${threshold}`,
  );

const at = (value: number, ours: number, naive: number): Point => ({
  value,
  results: {
    scheduler: { figures: { decision_cpu_us: ours } },
    naive: { figures: { decision_cpu_us: naive } },
  },
});
const POINTS = [at(100, 4, 8), at(1_000, 6, 60)];

describe('a threshold', () => {
  it.each([
    [
      'without a point is of the last',
      'comparison = "at_most"\ntarget = 6',
      { value: 6, unit: 'µs', isMet: true },
    ],
    ['at a point', 'comparison = "at_most"\ntarget = 3\nat = 100', { value: 4, unit: 'µs', isMet: false }],
    [
      'against a peer',
      'comparison = "at_most"\ntarget = 0.5\nagainst = "naive"',
      { value: 0.1, unit: '×', isMet: true },
    ],
    [
      'over another point',
      'comparison = "at_most"\ntarget = 1.4\nat = 1000\nover = 100',
      { value: 1.5, unit: '×', isMet: false },
    ],
    ['at least', 'comparison = "at_least"\ntarget = 6', { value: 6, isMet: true }],
    ['at least, and less', 'comparison = "at_least"\ntarget = 6.1', { value: 6, isMet: false }],
  ])('%s', (_, threshold, expected) => {
    expect(judge(declared(threshold), POINTS)).toMatchObject([expected]);
  });

  it('of a missing figure is missed', () => {
    const nothing = [{ value: 1_000, results: {} }];
    expect(judge(declared('comparison = "at_most"\ntarget = 6'), nothing)).toMatchObject([{ isMet: false }]);
  });

  it('describes itself in words', () => {
    const [judged] = judge(declared('comparison = "at_most"\ntarget = 2\nat = 1000\nover = 100'), POINTS);
    expect(judged?.what).toBe('CPU per decision at 1,000 nodes ÷ at 100 nodes');
  });
});
