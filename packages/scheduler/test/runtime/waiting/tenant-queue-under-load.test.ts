/** The round of tenants under floods: what one tenant does for hours, in many shapes or in vain costs the others nothing. */
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
  fits: () => isFit,
  hasCandidate: () => isFit,
  wake: () => {},
});

describe('a tenant', () => {
  it('that was served out of turn for hours is not kept out when others come', () => {
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

  it('whose many jobs come back from wake-ups in vain is served by turns all the same', () => {
    const round = createRound();
    for (const tenantId of ['a', 'b']) for (let i = 0; i < 64; i++) round.enter(waiter(tenantId));
    const woken = Array.from({ length: 64 }, () => round.take(LOOKS, passes) as Waiter);
    for (const each of woken) round.enterAgain(each);
    const served = Array.from({ length: 8 }, () => round.take(LOOKS, passes)?.tenantId);
    expect(served.filter((tenantId) => tenantId === 'b').length).toBeGreaterThanOrEqual(3);
  });

  it('that waits in more shapes than a freed slot looks at keeps no slot from another that it fits', () => {
    const round = createRound();
    for (let shape = 0; shape < 300; shape++) round.enter(waiter('many', shape, false));
    for (let i = 0; i < 50; i++) round.enter(waiter('one'));
    for (let i = 0; i < 50; i++) expect(round.take(LOOKS, passes)?.tenantId).toBe('one');
  });

  it('has each of its shapes served in about the order they came, however many are always there', () => {
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
