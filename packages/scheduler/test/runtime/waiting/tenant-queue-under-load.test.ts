/** The tenant queue under load: long, varied or fruitless waits of one tenant cost the others nothing. */
import { describe, expect, it } from 'vitest';
import { createTenantQueue } from '../../../src/runtime/queue/tenant-queue.ts';
import type { Waiter } from '../../../src/runtime/queue/waiting-queue.ts';

const createRound = () => createTenantQueue({ quantumOf: () => 1, isHeld: () => false });
const LOOKS = 256;
const passes = (waiter: Waiter): boolean => waiter.fits('node');

const waiter = (tenantId: string, shape: unknown = 'any', isFit = true): Waiter => ({
  tenantId,
  shape,
  class: 'normal',
  since: 0,
  directions: [{ source: 'en', target: 'zh' }],
  fits: () => isFit,
  hasCandidate: () => isFit,
  wake: () => {},
});

describe('a tenant under load', () => {
  it('is not locked out after hours of being served alone', () => {
    const round = createRound();
    for (const _ of [1, 2]) round.enter(waiter('capped'));
    for (let i = 0; i < 1_000; i++) {
      round.takeOf('capped', LOOKS, passes);
      round.enter(waiter('capped'));
    }
    for (let i = 0; i < 20; i++) for (const tenantId of ['capped', 'other']) round.enter(waiter(tenantId));
    const served = Array.from({ length: 20 }, () => round.take(LOOKS, passes)?.tenantId);
    expect(served.filter((tenantId) => tenantId === 'capped').length).toBeGreaterThanOrEqual(9);
  });

  it('is served in turn although its jobs return from failed wake-ups', () => {
    const round = createRound();
    for (const tenantId of ['a', 'b']) for (let i = 0; i < 64; i++) round.enter(waiter(tenantId));
    const woken = Array.from({ length: 64 }, () => round.take(LOOKS, passes) as Waiter);
    for (const each of woken) round.enterAgain(each);
    const served = Array.from({ length: 8 }, () => round.take(LOOKS, passes)?.tenantId);
    expect(served.filter((tenantId) => tenantId === 'b').length).toBeGreaterThanOrEqual(3);
  });

  it('with many shapes does not block a slot that fits others', () => {
    const round = createRound();
    for (let shape = 0; shape < 300; shape++) round.enter(waiter('many', shape, false));
    for (let i = 0; i < 50; i++) round.enter(waiter('one'));
    for (let i = 0; i < 50; i++) expect(round.take(LOOKS, passes)?.tenantId).toBe('one');
  });

  it('has its shapes served in about arrival order', () => {
    const round = createRound();
    for (let shape = 0; shape < 300; shape++) for (const _ of [1, 2]) round.enter(waiter('a', shape));
    const last = waiter('a', 'last');
    round.enter(last);
    let turns = 0;
    for (let served = round.take(LOOKS, passes); served !== last && turns < 1_200; turns++) {
      round.enter(waiter('a', served?.shape));
      served = round.take(LOOKS, passes);
    }
    expect(turns).toBeLessThan(1_200);
  });
});
