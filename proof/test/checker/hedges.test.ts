/** The rules of hedges find exactly what breaks them. */
import { describe, expect, it } from 'vitest';
import type { UntimedEvent } from '../../../packages/simulation/dist/history.js';
import { gatherFacts } from '../../src/checker/facts.ts';
import { checkFencing } from '../../src/checker/fencing.ts';
import { checkHedges } from '../../src/checker/hedges.ts';
import { ALLOWANCES } from '../../src/checker/violation.ts';
import {
  accepted,
  asked,
  assigned,
  done,
  fault,
  healed,
  imagine,
  result,
  type Step,
  started,
} from './build-history.ts';

const ALLOWED = { ...ALLOWANCES, hedgePercent: 100 };
const facts = (...steps: readonly Step[]) => gatherFacts(imagine(...steps));
const check = (...steps: readonly Step[]) => checkHedges(facts(...steps), ALLOWED).violations;

const hedged = (node: string, attempt = 2): UntimedEvent => ({
  kind: 'hedged',
  instance: 'i',
  node,
  job: 'j',
  attempt,
});
const acknowledged = (node: string, attempt = 1): UntimedEvent => ({
  kind: 'acknowledged',
  node,
  job: 'j',
  attempt,
});
const calledOff = (node: string): UntimedEvent => ({ kind: 'cancel_received', node, job: 'j' });

/** Attempt 1 is on node a, its hedge on node b. */
const BEGUN: readonly UntimedEvent[] = [
  asked('r'),
  accepted('r', 'j'),
  assigned('a.1', 'j'),
  started('a.1', 'j'),
  acknowledged('a.1'),
  hedged('b'),
  assigned('b.1', 'j', 2),
  started('b.1', 'j', 2),
];
const LATER: Step = [9_000, asked('other')];

describe('a hedge in a history', () => {
  it('may win, and then the first attempt is cancelled', () => {
    const won = [...BEGUN, done('b.1', 'j', 2), result('r', 'b.1', 'j', 2)];
    expect(check(...won, calledOff('a.1'), LATER)).toEqual([]);
    expect(check(...won, LATER)).toMatchObject([{ invariant: 'I4 fencing', about: ['j', 'a.1'] }]);
  });

  it('may lose, and is cancelled', () => {
    const lost = [...BEGUN, done('a.1', 'j'), result('r', 'a.1', 'j')];
    expect(check(...lost, calledOff('b.1'), LATER)).toEqual([]);
    expect(check(...lost, LATER)).toMatchObject([{ invariant: 'I4 fencing', about: ['j', 'b.1'] }]);
  });

  it('is not judged around a fault', () => {
    const lost = [fault(1, 'node_cut', 'b'), ...BEGUN, done('a.1', 'j'), result('r', 'a.1', 'j'), healed(1)];
    expect(check(...lost, LATER)).toEqual([]);
  });

  it('does not void the result of the first attempt, as a retry would', () => {
    const ends = [[5_000, done('a.1', 'j')] as const, result('r', 'a.1', 'j')];
    expect(checkFencing(facts(...BEGUN, ...ends), ALLOWED).violations).toEqual([]);
    const retried = BEGUN.filter(({ kind }) => kind !== 'hedged');
    expect(checkFencing(facts(...retried, ...ends), ALLOWED).violations).toHaveLength(1);
  });

  it('I11: is beyond the budget if more than that share of the attempts was hedged', () => {
    const of = (hedgePercent: number) =>
      checkHedges(facts(...BEGUN), { ...ALLOWED, hedgePercent }).violations;
    expect(of(100)).toEqual([]);
    expect(of(99)).toMatchObject([{ invariant: 'I11 bounded' }]);
  });
});
