/** The fencing rule finds exactly what breaks it. */
import { describe, expect, it } from 'vitest';
import { gatherFacts } from '../../src/checker/facts.ts';
import { checkFencing } from '../../src/checker/fencing.ts';
import { ALLOWANCES } from '../../src/checker/violation.ts';
import {
  accepted,
  asked,
  assigned,
  done,
  fault,
  healed,
  imagine,
  missing,
  oneJob,
  record,
  result,
  type Step,
  started,
} from './build-history.ts';

const check = (...steps: readonly Step[]) => checkFencing(gatherFacts(imagine(...steps)), ALLOWANCES);

describe('I4 in a history', () => {
  it('holds for results of attempts that were done', () => {
    const { violations, counts } = check(...oneJob());
    expect(violations).toEqual([]);
    expect(counts['late results']).toBe(0);
  });

  it('is broken by a result that no node made', () => {
    const { violations } = check(asked('r'), accepted('r', 'j'), started('n', 'j'), result('r', 'n', 'j'));
    expect(violations).toMatchObject([{ invariant: 'I4 fencing', about: ['r', 'j', 'n'] }]);
  });

  it('is broken by a result of another attempt, another node, or a later run', () => {
    expect(check(asked('r'), done('n', 'j', 1), result('r', 'n', 'j', 2)).violations).toHaveLength(1);
    expect(check(asked('r'), done('m', 'j'), result('r', 'n', 'j')).violations).toHaveLength(1);
    expect(check(asked('r'), result('r', 'n', 'j'), done('n', 'j')).violations).toHaveLength(1);
  });

  it('holds for a result between two runs of its attempt', () => {
    expect(check(asked('r'), done('n', 'j'), result('r', 'n', 'j'), done('n', 'j')).violations).toEqual([]);
  });

  it('is broken by a result without a signature', () => {
    const { violations } = check(asked('r'), {
      kind: 'outcome',
      client: 'c',
      request: 'r',
      result: { by: undefined, words: 'words of r' },
    });
    expect(violations).toHaveLength(1);
  });

  it('is broken by the text of another request', () => {
    const { violations } = check(asked('r'), asked('q'), done('n', 'j'), {
      kind: 'outcome',
      client: 'c',
      request: 'r',
      result: { by: { node: 'n', job: 'j', attempt: 1 }, words: 'words of q' },
    });
    expect(violations).toMatchObject([{ message: 'r contained "words of r" and got "words of q"' }]);
  });

  it('is broken by the result of another job', () => {
    const { violations } = check(asked('r'), done('n', 'j'), {
      kind: 'outcome',
      client: 'c',
      request: 'r',
      job: 'k',
      result: { by: { node: 'n', job: 'j', attempt: 1 }, words: 'words of r' },
    });
    expect(violations).toHaveLength(1);
  });

  it('is broken by a result long after the next attempt was sent', () => {
    const { violations } = check(
      asked('r'),
      assigned('n', 'j'),
      [1_000, assigned('m', 'j', 2)],
      [9_000, done('n', 'j')],
      result('r', 'n', 'j'),
    );
    expect(violations).toMatchObject([{ about: ['r', 'j', 'n'] }]);
  });

  it('holds for the result of a long job after many attempts', () => {
    const { violations } = check(
      asked('r'),
      assigned('n', 'j'),
      assigned('m', 'j', 2),
      [9_000, done('m', 'j', 2)],
      result('r', 'm', 'j', 2),
    );
    expect(violations).toEqual([]);
  });

  it('allows a result and the next attempt to cross', () => {
    const { violations } = check(
      asked('r'),
      assigned('n', 'j'),
      [1_000, assigned('m', 'j', 2)],
      [1_400, done('n', 'j')],
      result('r', 'n', 'j'),
    );
    expect(violations).toEqual([]);
  });

  it('excuses and counts a late result while writes of a lost master are missing', () => {
    const { violations, counts } = check(
      asked('r'),
      assigned('n', 'j'),
      [1_000, assigned('m', 'j', 2)],
      [1_100, fault(1, 'master_killed')],
      [9_000, done('n', 'j')],
      result('r', 'n', 'j'),
    );
    expect(violations).toEqual([]);
    expect(counts['late results accepted after a failover']).toBe(1);
  });

  it('excuses no late result whose successor was written long before the loss', () => {
    const { violations } = check(
      asked('r'),
      assigned('n', 'j'),
      [1_000, assigned('m', 'j', 2)],
      [8_000, fault(1, 'master_killed')],
      [9_000, done('n', 'j')],
      result('r', 'n', 'j'),
    );
    expect(violations).toHaveLength(1);
  });

  it('is broken by work for a job whose outcome was delivered', () => {
    const late = 700 + ALLOWANCES.flightMs + 100;
    const { violations } = check(...oneJob(), [late, assigned('m', 'j', 2)]);
    expect(violations).toMatchObject([{ at: late, about: ['j', 'm'] }]);
    expect(check(...oneJob(), [800, assigned('m', 'j', 2)]).violations).toEqual([]);
    const again = [late - 1, result('r', 'n', 'j')] as const;
    expect(check(...oneJob(), again, [late, assigned('m', 'j', 2)]).violations).toHaveLength(1);
  });

  it('excuses an assignment that a disturbed store delayed, until it expires', () => {
    const frozen = [600, fault(1, 'master_frozen')] as const;
    const late = 700 + ALLOWANCES.flightMs + 100;
    expect(check(...oneJob(), frozen, [late, assigned('m', 'j', 2)]).violations).toEqual([]);
    const healedBefore = [650, healed(1)] as const;
    expect(check(frozen, healedBefore, ...oneJob(), [2_000, assigned('m', 'j', 2)]).violations).toHaveLength(
      1,
    );
    const tooLate = 700 + ALLOWANCES.messageMs;
    expect(check(...oneJob(), frozen, [tooLate, assigned('m', 'j', 2)]).violations).toHaveLength(1);
  });

  it('excuses an assignment that its frozen node could not read before', () => {
    const hung = (node: string) => [
      [650, fault(1, 'node_frozen', node)] as const,
      [9_000, healed(1)] as const,
      [9_000, assigned('m.2', 'j', 2)] as const,
    ];
    expect(check(...oneJob(), ...hung('m')).violations).toEqual([]);
    expect(check(...oneJob(), ...hung('n')).violations).toHaveLength(1);
    expect(check(...oneJob(), ...hung('m'), [9_800, assigned('m.2', 'j', 2)]).violations).toHaveLength(1);
  });

  it('excuses and counts work whose outcome a failover lost with its driver', () => {
    const killed = [750, fault(2, 'instance_killed', 'i')] as const;
    const failedOver = [720, fault(1, 'master_killed')] as const;
    const again = [9_000, assigned('m', 'j', 2)] as const;
    const driven = oneJob().map((step) => (step.kind === 'assigned' ? { ...step, instance: 'i' } : step));
    const { violations, counts } = check(...driven, failedOver, killed, again);
    expect(violations).toEqual([]);
    expect(counts['settled jobs continued after a failover and their driver’s death']).toBe(1);
    expect(check(...driven, failedOver, again).violations).toHaveLength(1);
    const uninvolved = [750, fault(2, 'instance_killed', 'k')] as const;
    expect(check(...driven, failedOver, uninvolved, again).violations).toHaveLength(1);
    expect(check(...driven, killed, again).violations).toHaveLength(1);
    const replicated = [
      700 + ALLOWANCES.lossMs + ALLOWANCES.flightMs + 1,
      fault(1, 'master_killed'),
    ] as const;
    expect(check(...driven, killed, replicated, again).violations).toHaveLength(1);
    const deadAndBack = [[10, fault(3, 'instance_killed', 'i')] as const, [20, healed(3)] as const];
    expect(check(...deadAndBack, ...driven, failedOver, again).violations).toHaveLength(1);
    const tooLate = [701 + ALLOWANCES.deadlineMs, assigned('m', 'j', 2)] as const;
    expect(check(...driven, failedOver, killed, tooLate).violations).toHaveLength(1);
    const sent = { kind: 'message_sent', from: 'i', to: 'k', node: 'n', job: 'j' } as const;
    expect(check(sent, ...oneJob(), failedOver, killed, again).violations).toEqual([]);
    expect(check({ ...sent, job: 'o' }, ...oneJob(), failedOver, killed, again).violations).toHaveLength(1);
  });

  it('excuses and counts a record without an outcome lost that way', () => {
    const driven = oneJob()
      .filter(({ kind }) => kind !== 'looked_up')
      .map((step) => (step.kind === 'assigned' ? { ...step, instance: 'i' } : step));
    const failedOver = [650, fault(1, 'master_killed')] as const;
    const killed = [660, fault(2, 'instance_killed', 'i')] as const;
    const inTheEnd = [9_000, record('j', 'RELEASED')] as const;
    const { violations, counts } = check(...driven, failedOver, killed, inTheEnd);
    expect(violations).toEqual([]);
    expect(counts['settled jobs continued after a failover and their driver’s death']).toBe(1);
    expect(check(...driven, failedOver, inTheEnd).violations).toHaveLength(1);
    expect(check(...driven, killed, inTheEnd).violations).toHaveLength(1);
  });

  it('is broken by a record with another outcome', () => {
    const received = [asked('r'), done('n', 'j'), done('m', 'j', 2), result('r', 'n', 'j')] as const;
    expect(check(...received, record('j', 'RELEASED', { node: 'm', attempt: 2 })).violations).toHaveLength(1);
    expect(check(...received, record('j', 'RELEASED')).violations).toHaveLength(1);
    expect(check(...received, record('j', 'RELEASED', { node: 'n', attempt: 1 })).violations).toEqual([]);
  });

  it('allows a job to succeed after its session got a missing result', () => {
    const { violations } = check(
      asked('r'),
      accepted('r', 'j'),
      missing('r'),
      record('j', 'RELEASED', { node: 'n', attempt: 1 }),
    );
    expect(violations).toEqual([]);
  });

  it('counts results that were not accepted', () => {
    const { counts } = check(asked('r'), done('n', 'j'), done('m', 'j', 2), result('r', 'm', 'j', 2));
    expect(counts['late results']).toBe(1);
  });

  it('counts a late result whose successor could not be recorded yet', () => {
    const story = (what: 'shard_frozen' | 'node_killed') =>
      check(
        asked('r'),
        assigned('n', 'j'),
        [900, fault(1, what)],
        [1_000, assigned('m', 'j', 2)],
        [9_000, done('n', 'j')],
        result('r', 'n', 'j'),
      );
    expect(story('shard_frozen').violations).toEqual([]);
    expect(
      story('shard_frozen').counts['late results accepted while their successors could not be recorded'],
    ).toBe(1);
    expect(story('node_killed').violations).toHaveLength(1);
  });

  it('is broken by a late result whose successor could have been recorded', () => {
    const story = (doneAt: number) =>
      check(
        asked('r'),
        assigned('n', 'j'),
        [900, fault(1, 'shard_frozen')],
        [1_000, assigned('m', 'j', 2)],
        [2_000, healed(1)],
        [doneAt, done('n', 'j')],
        result('r', 'n', 'j'),
      ).violations;
    const latest = 2_000 + ALLOWANCES.flightMs + ALLOWANCES.crossingMs;
    expect(story(latest)).toEqual([]);
    expect(story(latest + 1)).toHaveLength(1);
  });

  it('is broken by an attempt that returns after its node ended it', () => {
    const again = check(assigned('n', 'j'), done('n', 'j'), assigned('n', 'j'));
    expect(again.violations).toMatchObject([
      { message: 'n got j#1 again, which it had ended 100 ms before' },
    ]);
    expect(check(assigned('n', 'j'), assigned('n', 'j'), done('n', 'j')).violations).toEqual([]);
    expect(check(assigned('n', 'j'), done('n', 'j'), assigned('n', 'j', 2)).violations).toEqual([]);
    expect(
      check(assigned('n', 'j'), done('n', 'j'), fault(1, 'instance_killed'), assigned('n', 'j')).violations,
    ).toEqual([]);
    const expired = 100 + ALLOWANCES.messageMs + ALLOWANCES.flightMs + 1;
    expect(
      check(assigned('n', 'j'), done('n', 'j'), fault(1, 'instance_killed'), [expired, assigned('n', 'j')])
        .violations,
    ).toHaveLength(1);
  });

  it('excuses and counts an attempt that a failover and its driver’s death lost', () => {
    const [first, again] = [assigned('n', 'j', 1, 'i'), assigned('n', 'j', 1, 'k')];
    const story = (lostAt: number, dead: string) =>
      check(
        [1_000, first],
        [lostAt, fault(1, 'master_killed')],
        [lostAt + 100, fault(2, 'instance_killed', dead)],
        [lostAt + 200, done('n', 'j')],
        [9_000, again],
      );
    const { violations, counts } = story(1_100, 'i');
    expect(violations).toEqual([]);
    expect(counts['attempts repeated after a failover and their driver’s death']).toBe(1);
    expect(story(1_100, 'another').violations).toHaveLength(1);
    const kept = 1_001 + ALLOWANCES.lossMs + ALLOWANCES.flightMs;
    expect(story(kept, 'i').violations).toHaveLength(1);
  });
});
