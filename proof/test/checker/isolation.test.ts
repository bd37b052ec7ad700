/** The isolation rule finds exactly what breaks it. */
import { describe, expect, it } from 'vitest';
import type { UntimedEvent } from '../../../packages/simulation/dist/history.js';
import { gatherFacts } from '../../src/checker/facts.ts';
import { checkIsolation } from '../../src/checker/isolation.ts';
import { accepted, assigned, imagine, result, type Step } from './build-history.ts';

const check = (...steps: readonly Step[]) => checkIsolation(gatherFacts(imagine(...steps)));
const upIn = (node: string, pool?: string): UntimedEvent => ({
  kind: 'node_up',
  node,
  slots: 2,
  style: 'sdk',
  ...(pool !== undefined && { pool }),
});
/** Client and tenant have the same name. */
const askedBy = (tenant: string, request = 'r', pool?: string): UntimedEvent => ({
  kind: 'asked',
  client: tenant,
  tenant,
  request,
  words: `words of ${request}`,
  ...(pool !== undefined && { pool }),
});

describe('I10 in a history', () => {
  it('holds for work on nodes of the pool, also with the same request id', () => {
    const { violations, counts, judged } = check(
      upIn('n', 'gold'),
      upIn('m'),
      askedBy('a', 'r', 'gold'),
      accepted('r', 'j', 'a'),
      assigned('n', 'j'),
      askedBy('b'),
      accepted('r', 'k', 'b'),
      assigned('m', 'k'),
      result('r', 'n', 'j', 1, 'a'),
      result('r', 'm', 'k', 1, 'b'),
    );
    expect(violations).toEqual([]);
    expect(counts.tenants).toBe(2);
    expect(judged).toEqual({ 'I10 isolation': 3 });
  });

  it.each([
    ['of another pool', 'silver'],
    ['of no pool', undefined],
  ])('is broken by work of a strict tenant on a node %s', (_name, pool) => {
    const { violations } = check(
      upIn('m', pool),
      askedBy('a', 'r', 'gold'),
      accepted('r', 'j', 'a'),
      assigned('m', 'j'),
    );
    expect(violations).toMatchObject([{ invariant: 'I10 isolation', about: ['j', 'm'] }]);
  });

  it('allows tenants without a strict pool to work anywhere', () => {
    const { violations } = check(
      upIn('m', 'gold'),
      askedBy('b'),
      accepted('r', 'k', 'b'),
      assigned('m', 'k'),
    );
    expect(violations).toEqual([]);
  });

  it('sees work that started before the client knew the job', () => {
    const { violations } = check(
      upIn('m'),
      askedBy('a', 'r', 'gold'),
      assigned('m', 'j'),
      accepted('r', 'j', 'a'),
    );
    expect(violations).toHaveLength(1);
  });

  it('is broken by one job for two tenants', () => {
    const { violations } = check(
      askedBy('a'),
      accepted('r', 'j', 'a'),
      askedBy('b'),
      accepted('r', 'j', 'b'),
    );
    expect(violations).toHaveLength(1);
  });

  it("is broken by a result of another tenant's job", () => {
    const { violations } = check(
      askedBy('a'),
      accepted('r', 'j', 'a'),
      askedBy('b'),
      accepted('r', 'k', 'b'),
      result('r', 'n', 'j', 1, 'b'),
    );
    expect(violations).toMatchObject([{ about: ['r', 'j'] }]);
  });

  it('is broken by a client that sees a job of another tenant', () => {
    const peek = (didSee: boolean) =>
      check({ kind: 'peeked', client: 'b', tenant: 'b', job: 'j', didSee }).violations;
    expect(peek(false)).toEqual([]);
    expect(peek(true)).toMatchObject([{ about: ['j', 'b'] }]);
  });
});
