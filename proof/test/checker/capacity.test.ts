/** The rule of capacity finds what breaks it, and only that. */
import { describe, expect, it } from 'vitest';
import { checkCapacity } from '../../src/checker/capacity.ts';
import { faultsOf } from '../../src/checker/faults.ts';
import { ALLOWANCES } from '../../src/checker/violation.ts';
import { done, fault, healed, imagine, type Step, started, turnedAway, up } from './imagined.ts';

const check = (...steps: readonly Step[]) => {
  const history = imagine(...steps);
  return checkCapacity(history, faultsOf(history), ALLOWANCES);
};

describe('I1 in a history', () => {
  it('holds while a node has as many jobs as slots', () => {
    const { violations, counts } = check(
      up('n'),
      started('n', 'a'),
      started('n', 'b'),
      done('n', 'a'),
      started('n', 'c'),
    );
    expect(violations).toEqual([]);
    expect(counts['most jobs at once on a node']).toBe(2);
  });

  it('is broken by one job more than slots', () => {
    const { violations } = check(up('n'), started('n', 'a'), started('n', 'b'), started('n', 'c'));
    expect(violations).toMatchObject([{ invariant: 'I1 no oversell', at: 400, about: ['n', 'c'] }]);
    expect(violations[0]?.says).toContain('a#1, b#1');
  });

  it('is broken by a job that the full node turned away', () => {
    const { violations, counts } = check(
      up('n', 1),
      started('n', 'a'),
      turnedAway('n', 'b'),
      done('n', 'a'),
      started('n', 'b'),
    );
    expect(violations).toHaveLength(1);
    expect(counts.oversold).toBe(1);
  });

  it('is broken by each job that the full node turned away', () => {
    expect(
      check(up('n', 1), started('n', 'a'), turnedAway('n', 'b'), turnedAway('n', 'c')).violations,
    ).toHaveLength(2);
  });

  it('is counted per node', () => {
    expect(check(up('n', 1), up('m', 1), started('n', 'a'), started('m', 'b')).violations).toEqual([]);
  });

  it('holds for the same job sent again to its node', () => {
    expect(check(up('n', 1), started('n', 'a'), started('n', 'a', 2)).violations).toEqual([]);
  });

  it('holds for a node that died with its jobs and came back without', () => {
    const { violations } = check(
      up('n', 1),
      started('n', 'a'),
      { kind: 'node_down', node: 'n' },
      up('n', 1),
      started('n', 'b'),
    );
    expect(violations).toEqual([]);
  });

  it('is not broken by a job beside one that the node was told to cancel; that is counted', () => {
    const { violations, counts } = check(
      up('n', 1),
      started('n', 'a'),
      { kind: 'cancel_told', node: 'n', job: 'a' },
      started('n', 'b'),
    );
    expect(violations).toEqual([]);
    expect(counts['oversold beside cancelled jobs']).toBe(1);
  });

  it('is broken by two jobs beside a cancelled one, if one is the limit', () => {
    const { violations } = check(
      up('n', 1),
      started('n', 'a'),
      { kind: 'cancel_told', node: 'n', job: 'a' },
      started('n', 'b'),
      started('n', 'c'),
    );
    expect(violations).toHaveLength(1);
  });
});

describe('after a failover', () => {
  it('as many jobs too many are excused as came when writes were lost', () => {
    const { violations, counts } = check(
      up('n', 1),
      [9_500, started('n', 'a')],
      [10_000, fault(1, 'master_killed')],
      [12_000, started('n', 'b')],
    );
    expect(violations).toEqual([]);
    expect(counts['oversold after a failover']).toBe(1);
  });

  it('jobs from long before were not lost, so one too many is a violation', () => {
    const { violations } = check(
      up('n', 1),
      [1_000, started('n', 'a')],
      [10_000, fault(1, 'master_killed')],
      [12_000, started('n', 'b')],
    );
    expect(violations).toHaveLength(1);
  });

  it('the excuse ends when leases are asserted again', () => {
    const { violations } = check(
      up('n', 1),
      [9_900, started('n', 'a')],
      [10_000, fault(1, 'master_frozen')],
      [11_000, healed(1)],
      [10_000 + ALLOWANCES.failoverMs + 1, started('n', 'b')],
    );
    expect(violations).toHaveLength(1);
  });

  it('the death of an instance excuses nothing', () => {
    const { violations } = check(
      up('n', 1),
      [9_900, started('n', 'a')],
      [10_000, fault(1, 'instance_killed')],
      [10_100, started('n', 'b')],
    );
    expect(violations).toHaveLength(1);
  });
});
