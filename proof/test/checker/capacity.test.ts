/** The rule of capacity finds what breaks it, and only that. */
import { describe, expect, it } from 'vitest';
import { checkCapacity } from '../../src/checker/capacity.ts';
import { gatherFacts } from '../../src/checker/facts.ts';
import { ALLOWANCES } from '../../src/checker/violation.ts';
import { done, fault, healed, imagine, type Step, started, turnedAway, up } from './imagined.ts';

const check = (...steps: readonly Step[]) => checkCapacity(gatherFacts(imagine(...steps)), ALLOWANCES);

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

describe('a job that runs without a lease', () => {
  const acknowledging: Step = { kind: 'node_up', node: 'n', slots: 1, style: 'sdk', acknowledges: true };
  const acknowledged = (job: string) => ({ kind: 'acknowledged', node: 'n', job, attempt: 1 }) as const;
  const { reservationMs, leaseMs } = ALLOWANCES;

  it('has lost its slot if the node did not say in time that it took it; that is counted', () => {
    const { violations, counts } = check(
      acknowledging,
      [1_000, started('n', 'a')],
      [1_000 + reservationMs, started('n', 'b')],
    );
    expect(violations).toEqual([]);
    expect(counts['oversold beside jobs that nobody acknowledged in time']).toBe(1);
  });

  it('has not lost it before, nor if it was acknowledged, nor if its node never does', () => {
    const again = [1_000 + reservationMs, started('n', 'b')] as const;
    expect(
      check(acknowledging, [1_000, started('n', 'a')], [4_000, started('n', 'b')]).violations,
    ).toHaveLength(1);
    expect(
      check(acknowledging, [1_000, started('n', 'a')], [3_000, acknowledged('a')], again).violations,
    ).toHaveLength(1);
    expect(check(up('n', 1), [1_000, started('n', 'a')], again).violations).toHaveLength(1);
  });

  it('may have been given up while its node was cut off', () => {
    const cut = [3_000, fault(1, 'node_cut', 'n')] as const;
    const elsewhere = [3_000, fault(1, 'node_cut', 'm')] as const;
    const story = (between: Step) =>
      check(up('n', 1), [1_000, started('n', 'a')], between, [9_000, started('n', 'b')]).violations;
    expect(story(cut)).toEqual([]);
    expect(story(elsewhere)).toHaveLength(1);
  });

  it('may have been given up while its node slept over it, if that was long enough', () => {
    const story = (sleptMs: number) =>
      check(
        up('n', 1),
        [1_000, fault(1, 'node_frozen', 'n')],
        [1_000 + sleptMs, healed(1)],
        [1_000 + sleptMs, started('n', 'a')],
        [1_100 + sleptMs, started('n', 'b')],
      );
    expect(story(4_000).violations).toHaveLength(1);
    expect(story(5_000).violations).toEqual([]);
  });

  it('has lost it for sure when its time is over, and not before', () => {
    const story = (at: number) => check(up('n', 1), [0, started('n', 'a')], [at, started('n', 'b')]);
    expect(story(leaseMs - 1).violations).toHaveLength(1);
    expect(story(leaseMs).violations).toEqual([]);
    expect(story(leaseMs).counts['oversold beside jobs whose lease had ended']).toBe(1);
  });
});

describe('a failover by order', () => {
  const failover = (lossMs: number): Step => [
    10_000,
    { kind: 'fault_began', fault: 1, what: 'shard_failed_over', target: 's', lossMs },
  ];
  const story = (lossMs: number, at: number) =>
    check(
      up('n', 1),
      [9_700, started('n', 'a')],
      failover(lossMs),
      [10_500, healed(1)],
      [at, started('n', 'b')],
    );

  it('loses what was written as long before as it says, and no more', () => {
    expect(story(300, 11_000).counts['oversold after a failover']).toBe(1);
    expect(story(299, 11_000).violations).toHaveLength(1);
  });

  it('is over when it has ended and everybody has asserted again', () => {
    expect(story(300, 10_500 + ALLOWANCES.failoverMs).violations).toEqual([]);
    expect(story(300, 10_501 + ALLOWANCES.failoverMs).violations).toHaveLength(1);
  });

  it('excuses nothing where writes are never lost', () => {
    const history = imagine(up('n', 1), [9_900, started('n', 'a')], failover(300), [
      10_500,
      started('n', 'b'),
    ]);
    expect(checkCapacity(gatherFacts(history), { ...ALLOWANCES, lossMs: 0 }).violations).toHaveLength(1);
  });
});
