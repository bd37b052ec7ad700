/** The outcome rule finds exactly what breaks it. */
import { describe, expect, it } from 'vitest';
import { gatherFacts } from '../../src/checker/facts.ts';
import { checkOutcomes } from '../../src/checker/outcomes.ts';
import { ALLOWANCES } from '../../src/checker/violation.ts';
import {
  accepted,
  asked,
  assigned,
  fault,
  healed,
  imagine,
  missing,
  oneJob,
  record,
  result,
  type Step,
} from './build-history.ts';

const check = (...steps: readonly Step[]) => checkOutcomes(gatherFacts(imagine(...steps)), ALLOWANCES);
const LATE = ALLOWANCES.deadlineMs + ALLOWANCES.graceMs + 1_000;

describe('I3 in a history', () => {
  it('holds when every request has one outcome', () => {
    const { violations, counts } = check(...oneJob('r', 'j'), ...oneJob('q', 'k'));
    expect(violations).toEqual([]);
    expect(counts).toMatchObject({ requests: 2, accepted: 2, results: 2, 'missing results': 0, lost: 0 });
  });

  it('is broken by a second outcome', () => {
    const { violations, counts } = check(...oneJob(), missing('r'));
    expect(violations).toMatchObject([{ invariant: 'I3 one outcome', about: ['r', 'j'] }]);
    expect(counts.doubled).toBe(1);
  });

  it('is broken by an outcome after the deadline', () => {
    const { violations } = check(asked('r'), [1_000, accepted('r', 'j')], [1_000 + LATE, missing('r')]);
    expect(violations).toMatchObject([{ invariant: 'I3 one outcome' }]);
  });

  it('holds for an outcome delivered when its client reconnected', () => {
    const late = ALLOWANCES.deadlineMs + ALLOWANCES.graceMs - 1_000;
    expect(check(asked('r'), [90_000, accepted('r', 'j')], [90_000 + late, missing('r')]).violations).toEqual(
      [],
    );
  });

  it('does not count the time without a living instance', () => {
    const { violations } = check(
      { kind: 'instance_up', instance: 'i' },
      asked('r'),
      [1_000, accepted('r', 'j')],
      [2_000, { kind: 'instance_down', instance: 'i', isMeant: true }],
      [6_000, { kind: 'instance_up', instance: 'k' }],
      [1_000 + LATE, missing('r')],
    );
    expect(violations).toEqual([]);
  });

  it('counts all other time: half a second without instances excuses no second', () => {
    const { violations } = check(
      { kind: 'instance_up', instance: 'i' },
      asked('r'),
      [1_000, accepted('r', 'j')],
      [2_000, { kind: 'instance_down', instance: 'i', isMeant: true }],
      [2_500, { kind: 'instance_up', instance: 'k' }],
      [1_000 + LATE, missing('r')],
    );
    expect(violations).toHaveLength(1);
  });

  it('treats a frozen instance as absent if it is the only one', () => {
    const story = (instances: readonly string[]) =>
      check(
        ...instances.map((instance) => ({ kind: 'instance_up' as const, instance })),
        asked('r'),
        [1_000, accepted('r', 'j')],
        [2_000, fault(1, 'instance_frozen', 'i')],
        [6_000, healed(1)],
        [1_000 + LATE, missing('r')],
      ).violations;
    expect(story(['i'])).toEqual([]);
    expect(story(['i', 'k'])).toHaveLength(1);
  });

  it('is broken by an attempt that went to two nodes', () => {
    const { violations } = check(assigned('n', 'j'), assigned('m', 'j', 2), assigned('m', 'j'));
    expect(violations).toMatchObject([{ invariant: 'I3 one outcome', about: ['j', 'm', 'n'] }]);
  });

  it('holds for an attempt that a failover lost together with its driver', () => {
    const story = (sentAt: number, ...rest: readonly Step[]) =>
      check([sentAt, assigned('n', 'j', 2)], [10_000, fault(2, 'master_killed')], ...rest, [
        60_000,
        assigned('m', 'j', 2),
      ]);
    const died: Step = [11_000, fault(3, 'instance_killed')];
    expect(story(9_950, died).violations).toEqual([]);
    expect(story(9_950, died).counts['attempts that went to two nodes after a failover']).toBe(1);
    expect(story(9_950).violations).toHaveLength(1);
    expect(story(8_000, died).violations).toHaveLength(1);
    expect(story(9_950, [40_000, fault(3, 'instance_killed')]).violations).toHaveLength(1);
  });

  it('holds for an attempt that reached its node twice', () => {
    expect(check(assigned('n', 'j'), assigned('n', 'j')).violations).toEqual([]);
  });

  it('is broken by two jobs of one request of which neither failed', () => {
    const { violations } = check(...oneJob(), accepted('r', 'k'), record('k', 'RUNNING'));
    expect(violations).toMatchObject([{ about: ['r', 'j', 'k'] }]);
  });

  it('is broken by two jobs of one request of which one is unknown', () => {
    const story = [...oneJob(), accepted('r', 'k'), assigned('m', 'k'), record('k', undefined)];
    expect(check(...story).violations).toHaveLength(1);
  });

  it('holds for an unknown job that never reached a node: it was withdrawn', () => {
    expect(check(...oneJob(), accepted('r', 'k'), record('k', undefined)).violations).toEqual([]);
  });

  it('holds for a request whose first job failed', () => {
    expect(check(accepted('r', 'k'), record('k', 'RELEASED'), ...oneJob()).violations).toEqual([]);
  });

  it.each(['FINISHED', 'FAILED', 'RELEASED'])('holds for a job that ended as %s', (state) => {
    const { violations, counts } = check(assigned('n', 'j'), assigned('m', 'j', 2), record('j', state));
    expect(violations).toEqual([]);
    expect(counts.retries).toBe(1);
  });

  it('is broken by a job that still runs at rest', () => {
    const { violations } = check(assigned('n', 'j'), record('j', 'RUNNING'));
    expect(violations).toMatchObject([{ about: ['j'], message: 'j is still RUNNING at rest' }]);
  });
});

describe('a second job of a request', () => {
  const story = (firstAt: number) =>
    check(
      asked('r'),
      [firstAt, accepted('r', 'j')],
      [10_000, fault(1, 'master_killed')],
      [11_000, accepted('r', 'k')],
      result('r', 'n', 'k'),
      record('j', 'RELEASED', { node: 'n', attempt: 1 }),
      record('k', 'RELEASED', { node: 'n', attempt: 1 }),
    );

  it('is counted if the first was written when writes were lost', () => {
    const { violations, counts } = story(10_000 - ALLOWANCES.lossMs);
    expect(violations).toEqual([]);
    expect(counts['second jobs after a failover']).toBe(1);
  });

  it('is a violation if the first was written before', () => {
    const { violations, counts } = story(9_999 - ALLOWANCES.lossMs);
    expect(violations).toMatchObject([{ invariant: 'I3 one outcome', about: ['r', 'j', 'k'] }]);
    expect(counts['second jobs after a failover']).toBe(0);
  });
});

describe('requests of tenants', () => {
  const of = (tenant: string): Step => ({ ...asked('r', tenant), tenant }) as Step;

  it('may have the same id', () => {
    const { violations, counts } = check(of('a'), of('b'), missing('r', 'a'), missing('r', 'b'));
    expect(violations).toEqual([]);
    expect(counts.requests).toBe(2);
  });

  it('have an outcome each', () => {
    expect(check(of('a'), of('b'), missing('r', 'a'), missing('r', 'a')).violations).toHaveLength(2);
  });
});

describe('nothing lost', () => {
  it('is broken by an accepted request without an outcome', () => {
    const { violations, counts } = check(asked('r'), accepted('r', 'j'));
    expect(violations).toMatchObject([{ invariant: 'nothing lost', about: ['r', 'j'] }]);
    expect(counts.lost).toBe(1);
  });

  it('is broken by a request neither accepted nor abandoned by its client', () => {
    expect(check(asked('r')).violations).toMatchObject([{ invariant: 'nothing lost' }]);
  });

  it('is not broken by a request that was never accepted and was abandoned', () => {
    const { violations, counts } = check(
      asked('r'),
      { kind: 'refused', client: 'c', request: 'r', code: 'RATE_LIMITED' },
      { kind: 'abandoned', client: 'c', request: 'r' },
    );
    expect(violations).toEqual([]);
    expect(counts).toMatchObject({ 'refused answers': 1, 'abandoned, never accepted': 1 });
  });

  it('is broken by an accepted request that its client abandoned', () => {
    const { violations } = check(asked('r'), accepted('r', 'j'), {
      kind: 'abandoned',
      client: 'c',
      request: 'r',
    });
    expect(violations).toHaveLength(1);
  });

  it('counts an outcome although the acceptance never arrived', () => {
    expect(check(asked('r'), result('r', 'n', 'j')).violations).toEqual([]);
  });

  it('does not apply to clients that left for good', () => {
    expect(check(asked('r'), accepted('r', 'j'), { kind: 'client_left', client: 'c' }).violations).toEqual(
      [],
    );
    expect(
      check(asked('r'), accepted('r', 'j'), { kind: 'client_left', client: 'd' }).violations,
    ).toHaveLength(1);
  });

  it('gives clients more time that were away', () => {
    const story = (client: string) =>
      check(
        asked('r'),
        [1_000, accepted('r', 'j')],
        [2_000, fault(1, 'client_cut', client)],
        [9_000, healed(1)],
        [1_000 + LATE, missing('r')],
      ).violations;
    expect(story('c')).toEqual([]);
    expect(story('d')).toHaveLength(1);
  });
});
