/** The rules about limits, and about what is left at rest, find exactly what breaks them. */
import { describe, expect, it } from 'vitest';
import type { UntimedEvent } from '../../../packages/simulation/dist/history.js';
import { checkBounds } from '../../src/checker/bounded.ts';
import { gatherFacts } from '../../src/checker/facts.ts';
import { checkProbe } from '../../src/checker/probe.ts';
import { ALLOWANCES } from '../../src/checker/violation.ts';
import { assigned, done, fault, healed, imagine, type Step, started, up } from './build-history.ts';

const sample = (value: number, limit: number, atRest?: number): UntimedEvent => ({
  kind: 'sampled',
  instance: 'i',
  gauge: 'waiting jobs',
  value,
  limit,
  ...(atRest !== undefined && { atRest }),
});
const LATE = 2 * ALLOWANCES.leaseMs;
const quiet: UntimedEvent = { kind: 'quiet' };

describe('I11 in a history', () => {
  const check = (...steps: readonly Step[]) => checkBounds(imagine(...steps)).violations;

  it('holds up to the limit', () => {
    expect(check(sample(10, 10))).toEqual([]);
    expect(checkBounds(imagine(sample(1, 2), sample(2, 2))).judged).toMatchObject({ 'I11 bounded': 2 });
  });

  it('is broken by one more, and by a value that is no number', () => {
    expect(check(sample(11, 10))).toMatchObject([{ invariant: 'I11 bounded', about: ['i', 'waiting jobs'] }]);
    expect(check(sample(Number.NaN, 10))).toHaveLength(1);
  });
});

describe('I2 in samples', () => {
  const check = (...steps: readonly Step[]) => checkBounds(imagine(...steps)).violations;

  it('holds if the last sample at rest is small enough', () => {
    expect(check(sample(5, 10, 0), quiet, sample(2, 10, 0), sample(0, 10, 0))).toEqual([]);
    expect(check(sample(5, 10, 0))).toEqual([]);
  });

  it('is broken by what is left', () => {
    expect(check(quiet, sample(1, 10, 0))).toMatchObject([{ invariant: 'I2 no leak' }]);
    expect(check(quiet, sample(1, 10))).toEqual([]);
  });
});

describe('I2 in a probe', () => {
  const began: UntimedEvent = { kind: 'probe_began', nodes: ['n', 'm'] };
  const ended: UntimedEvent = { kind: 'probe_ended' };
  /** Long after both nodes started. */
  const judge = (isExact: boolean, ...steps: readonly Step[]) => {
    const late = imagine(...steps).map((each) => ({ ...each, at: each.at + LATE }));
    const facts = gatherFacts([...imagine(up('n', 2), up('m', 1)), ...late]);
    return checkProbe(facts, { ...ALLOWANCES, isExact });
  };
  const check = (...steps: readonly Step[]) => judge(false, ...steps);

  it('expects one job at a time on a node that failed before', () => {
    const bad = ['x', 'y', 'z'].map((job): Step => [1_000, assigned('n', job)]);
    const first = [began, started('n', 'a'), started('m', 'c'), ended] as const;
    const later = ALLOWANCES.leaseMs + 2_000;
    const story = (...before: readonly Step[]) =>
      judge(true, ...before, [later, first[0]], ...first.slice(1));
    expect(story(...bad).violations).toEqual([]);
    expect(story(...bad.slice(1)).violations).toHaveLength(1);
    const again = judge(
      true,
      ...bad,
      [later, began],
      started('n', 'a'),
      started('m', 'c'),
      ended,
      done('n', 'a'),
      done('m', 'c'),
      [2 * later, began],
      started('n', 'd'),
      started('m', 'e'),
      ended,
    );
    expect(again.violations).toMatchObject([{ about: ['n', 'x', 'y', 'z'] }]);
  });

  it('holds if every slot was filled again', () => {
    const { violations, judged } = check(
      began,
      started('n', 'a'),
      started('n', 'b'),
      started('m', 'c'),
      ended,
      done('n', 'a'),
    );
    expect(violations).toEqual([]);
    expect(judged).toEqual({ 'I2 no leak': 2 });
  });

  it('is broken by a slot that no job gets any more', () => {
    const { violations, counts } = check(
      started('n', 'x'),
      started('n', 'y'),
      done('n', 'x'),
      done('n', 'y'),
      began,
      started('n', 'a'),
      started('m', 'b'),
      ended,
    );
    expect(violations).toMatchObject([{ invariant: 'I2 no leak', about: ['n'] }]);
    expect(counts['slots that could not be filled again']).toBe(1);
  });

  it('names the jobs without a final report: one may hold the slot', () => {
    const { violations } = judge(
      true,
      [0, assigned('n', 'x')],
      assigned('n', 'y'),
      done('n', 'y'),
      [ALLOWANCES.leaseMs + 1_000, began],
      assigned('n', 'a'),
      started('n', 'a'),
      started('m', 'b'),
      ended,
    );
    expect(violations).toMatchObject([{ about: ['n', 'x'] }]);
  });

  it('is broken by slots that are never full at the same time', () => {
    expect(
      check(began, started('n', 'a'), done('n', 'a'), started('n', 'b'), started('m', 'c'), ended).violations,
    ).toHaveLength(1);
  });

  it('counts jobs that still run from before', () => {
    expect(check(started('n', 'x'), began, started('n', 'a'), started('m', 'c'), ended).violations).toEqual(
      [],
    );
  });

  it('is broken by a node that is missing', () => {
    const { violations } = check(
      { kind: 'node_down', node: 'm' },
      began,
      started('n', 'a'),
      started('n', 'b'),
      ended,
    );
    expect(violations).toMatchObject([{ about: ['m'] }]);
  });

  it('does not judge a node that the scheduler cannot know to be free', () => {
    const half = [began, started('n', 'a'), started('m', 'b'), ended];
    const failed = { kind: 'ended', how: 'failed', node: 'n', job: 'x', attempt: 1 } as const;
    for (const excuse of [assigned('n', 'x'), fault(1, 'node_cut', 'n'), failed]) {
      const { violations, counts } = check(excuse, ...half);
      expect(violations).toEqual([]);
      expect(counts['nodes not judged by a probe']).toBe(1);
      const long = [0, excuse] as const;
      const after = half.map((each, at) => [ALLOWANCES.leaseMs + at + 1, each] as const);
      // A node that was cut off or failed may still be on probation.
      if (excuse.kind === 'assigned') expect(check(long, ...after).violations).toHaveLength(1);
    }
    expect(check(assigned('n', 'x'), done('n', 'x'), ...half).violations).toHaveLength(1);
    expect(check(assigned('m', 'x'), ...half).violations).toHaveLength(1);
    expect(check(fault(1, 'instance_killed'), healed(1), ...half).violations).toEqual([]);
    expect(check(fault(1, 'client_cut'), healed(1), ...half).violations).toHaveLength(1);
  });

  it('does not judge slots of jobs sent to dead nodes before their reservations end', () => {
    const handed = { kind: 'message_sent', from: 'i', to: 'k', node: 'n', job: 'x' } as const;
    const half = (at: number): Step[] => [[at, began], started('n', 'a'), started('m', 'b'), ended];
    const down = { kind: 'instance_down', instance: 'k', isMeant: true } as const;
    const back = (at: number): Step => [at, { kind: 'instance_up', instance: 'k' }];
    const { reservationMs, messageMs, flightMs } = ALLOWANCES;
    const probe = (backAt: number, at: number) =>
      judge(true, back(0), [10, down], [20, handed], back(backAt), ...half(at));
    expect(probe(20 + messageMs, messageMs + 30).violations).toEqual([]);
    expect(probe(20 + messageMs, 21 + reservationMs + flightMs).violations).toMatchObject([{ about: ['n'] }]);
    // It came back in time to report them.
    expect(probe(1_000, messageMs + 30).violations).toHaveLength(1);
  });

  it('judges nodes in virtual time although the store or an instance was away', () => {
    const half = [began, started('n', 'a'), started('m', 'b'), ended];
    for (const what of ['instance_killed', 'shard_failed_over'] as const)
      expect(judge(true, fault(1, what), healed(1), ...half).violations).toHaveLength(1);
    expect(judge(true, fault(1, 'node_cut', 'n'), healed(1), ...half).violations).toEqual([]);
  });
});
