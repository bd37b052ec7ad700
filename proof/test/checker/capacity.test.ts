/** The capacity rule finds exactly what breaks it. */
import { describe, expect, it } from 'vitest';
import { type HistoryEvent, ofKind } from '../../../packages/simulation/dist/history.js';
import { checkCapacity } from '../../src/checker/capacity.ts';
import { gatherFacts } from '../../src/checker/facts.ts';
import { ALLOWANCES, type Allowances } from '../../src/checker/violation.ts';
import {
  accepted,
  asked,
  done,
  fault,
  healed,
  imagine,
  type Step,
  started,
  turnedAway,
  up,
} from './build-history.ts';

/** A job without a recorded request was requested right before it was sent. */
function askedAtOnce(history: readonly HistoryEvent[]): HistoryEvent[] {
  const known = new Set(ofKind(history, 'accepted').map(({ job }) => job));
  return history.flatMap((each) => {
    if ((each.kind !== 'started' && each.kind !== 'turned_away') || known.has(each.job)) return [each];
    known.add(each.job);
    const { at, job } = each;
    return [{ ...asked(job), at }, { ...accepted(job, job), at }, each];
  });
}

const judge = (allowances: Allowances, steps: readonly Step[]) =>
  checkCapacity(gatherFacts(askedAtOnce(imagine(...steps))), allowances);
const check = (...steps: readonly Step[]) => judge(ALLOWANCES, steps);
const exactly = (...steps: readonly Step[]) => judge({ ...ALLOWANCES, isExact: true }, steps);
const FAILOVER = {
  kind: 'fault_began',
  fault: 1,
  what: 'shard_failed_over',
  target: 's',
  lossMs: 300,
} as const;

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
    expect(violations[0]?.message).toContain('a#1, b#1');
  });

  it('is broken by a job that the full node rejected', () => {
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

  it('is broken by each job that the full node rejected', () => {
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

  it('holds for a node that died with its jobs and restarted without', () => {
    const { violations } = check(
      up('n', 1),
      started('n', 'a'),
      { kind: 'node_down', node: 'n' },
      up('n', 1),
      started('n', 'b'),
    );
    expect(violations).toEqual([]);
  });

  it('is broken beside a cancelled job that the node still runs', () => {
    const { violations } = check(
      up('n', 1),
      started('n', 'a'),
      { kind: 'cancel_received', node: 'n', job: 'a' },
      started('n', 'b'),
    );
    expect(violations).toHaveLength(1);
  });

  it('holds for a job after one that the node has cancelled', () => {
    const { violations } = check(
      up('n', 1),
      started('n', 'a'),
      { kind: 'cancel_received', node: 'n', job: 'a' },
      { kind: 'ended', how: 'cancelled', node: 'n', job: 'a', attempt: 1 },
      started('n', 'b'),
    );
    expect(violations).toEqual([]);
  });
});

describe('after a failover', () => {
  it('excuses as many jobs too many as were written when writes were lost', () => {
    const { violations, counts } = check(
      up('n', 1),
      [9_500, started('n', 'a')],
      [10_000, fault(1, 'master_killed')],
      [12_000, started('n', 'b')],
    );
    expect(violations).toEqual([]);
    expect(counts['oversold after a failover']).toBe(1);
  });

  it('does not excuse jobs from long before the loss', () => {
    const { violations } = check(
      up('n', 1),
      [1_000, started('n', 'a')],
      [10_000, fault(1, 'master_killed')],
      [12_000, started('n', 'b')],
    );
    expect(violations).toHaveLength(1);
  });

  it('does not excuse jobs that were assigned after the loss', () => {
    const { violations } = check(
      up('n', 2),
      [1_000, started('n', 'a')],
      [10_000, fault(1, 'master_killed')],
      [12_000, started('n', 'b')],
      [14_000, started('n', 'c')],
    );
    expect(violations).toHaveLength(1);
  });

  it('a lost job that has ended excuses no other', () => {
    const { violations } = check(
      up('n', 1),
      [9_500, started('n', 'a')],
      [10_000, fault(1, 'master_killed')],
      [11_500, done('n', 'a')],
      [12_000, started('n', 'b')],
      [13_000, started('n', 'c')],
    );
    expect(violations).toHaveLength(1);
  });

  it('a lease may have ended whose extension was lost', () => {
    const story = (acknowledgedAt: number) =>
      check(
        { kind: 'node_up', node: 'n', slots: 1, style: 'sdk', acknowledges: true },
        [7_000, started('n', 'a')],
        [acknowledgedAt, { kind: 'acknowledged', node: 'n', job: 'a', attempt: 1 }],
        [10_000, fault(1, 'master_killed')],
        [12_000, started('n', 'b')],
      ).violations;
    expect(story(9_500)).toEqual([]);
    expect(story(7_500)).toHaveLength(1);
  });

  it('a slot may have been lost before its job was sent', () => {
    const story = (askedAt: number, at: number) =>
      exactly(
        up('n', 1),
        [10_000, FAILOVER],
        [askedAt, asked('r')],
        [11_500, healed(1)],
        [11_600, started('n', 'a')],
        [at, turnedAway('n', 'b')],
        [at + 100, accepted('r', 'b')],
      ).violations;
    const latest = 10_300 + ALLOWANCES.flightMs;
    expect(story(9_000, latest + 2_000)).toEqual([]);
    expect(story(9_000, latest + 2_001)).toHaveLength(1);
    expect(story(latest + 1, latest + 2_000)).toHaveLength(1);
  });

  it('the excuse ends when leases are written again', () => {
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

describe('a failover of the simulation', () => {
  const story = (arrivedAt: number, ms = 300) => {
    const history = [
      up('n', 1),
      ...(arrivedAt < 10_000 ? [[arrivedAt, started('n', 'a')] as const] : []),
      [10_000, { kind: 'fault_began', fault: 1, what: 'shard_failed_over', target: 's', lossMs: ms }],
      ...(arrivedAt < 10_000 ? [] : [[arrivedAt, started('n', 'a')] as const]),
      [11_500, healed(1)],
      [12_000, started('n', 'b')],
    ] as const;
    return exactly(...history).violations;
  };

  it('loses what is written from its beginning on, for the recorded time', () => {
    const { flightMs } = ALLOWANCES;
    expect(story(10_000 - flightMs - 1)).toHaveLength(1);
    expect(story(10_000 - flightMs)).toEqual([]);
    expect(story(10_300 + flightMs)).toEqual([]);
    expect(story(10_301 + flightMs)).toHaveLength(1);
  });
});

describe('a planned failover', () => {
  const failover = (lossMs: number): Step => [
    10_000,
    { kind: 'fault_began', fault: 1, what: 'shard_failed_over', target: 's', lossMs },
  ];
  const story = (lossMs: number, at: number) =>
    check(
      up('n', 1),
      [9_700 - ALLOWANCES.flightMs, started('n', 'a')],
      failover(lossMs),
      [10_500, healed(1)],
      [at, started('n', 'b')],
    );

  it('loses exactly what was written in the recorded time before', () => {
    expect(story(300, 11_000).counts['oversold after a failover']).toBe(1);
    expect(story(299, 11_000).violations).toHaveLength(1);
  });

  it('is over when it has ended and all leases are written again', () => {
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
