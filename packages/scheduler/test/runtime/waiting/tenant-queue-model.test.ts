/** Deficit round robin, turn by turn, against the queue that skips many turns at once. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createTenantQueue } from '../../../src/runtime/queue/tenant-queue.ts';
import type { Waiter } from '../../../src/runtime/queue/waiting-queue.ts';

/** Quanta with exact sums: a rounding error must not change the order. */
const QUANTA = [1, 0.5, 0.25, 0.125];
const TENANTS = 5;

/** Turn by turn, each worth its quantum. */
function createModel(quantumOf: (tenantId: string) => number) {
  let turns: { tenantId: string; credit: number; jobs: number; hadTurn: boolean }[] = [];
  return {
    enter(tenantId: string): void {
      const turn = turns.find((each) => each.tenantId === tenantId);
      if (turn === undefined) turns.push({ tenantId, credit: 0, jobs: 1, hadTurn: false });
      else turn.jobs += 1;
    },
    take(): string | undefined {
      while (turns.length > 0) {
        const [head, ...others] = turns as [(typeof turns)[0], ...typeof turns];
        if (!head.hadTurn && head.credit < 1) head.credit += quantumOf(head.tenantId);
        head.hadTurn = true;
        if (head.credit >= 1) {
          head.credit -= 1;
          head.jobs -= 1;
          if (head.jobs === 0) turns = others;
          else if (head.credit < 1) turns = [...others, { ...head, hadTurn: false }];
          return head.tenantId;
        }
        turns = [...others, { ...head, hadTurn: false }];
      }
      return undefined;
    },
  };
}

const waiter = (tenantId: string): Waiter => ({
  tenantId,
  shape: 'any',
  class: 'normal',
  since: 0,
  directions: [{ source: 'en', target: 'zh' }],
  fits: () => true,
  hasCandidate: () => true,
  wake() {},
});

describe('the tenant queue', () => {
  it('serves in the same order as a turn-by-turn model', () => {
    const quanta = fc.array(fc.constantFrom(...QUANTA), { minLength: TENANTS, maxLength: TENANTS });
    const act = fc.oneof(fc.nat(TENANTS - 1), fc.constant('take' as const));
    fc.assert(
      fc.property(quanta, fc.array(act, { maxLength: 200 }), (list, acts) => {
        const quantumOf = (tenantId: string): number => list[Number(tenantId)] ?? 1;
        const round = createTenantQueue({ quantumOf, isHeld: () => false });
        const model = createModel(quantumOf);
        for (const each of acts) {
          if (each === 'take') expect(round.take(256, () => true)?.tenantId).toBe(model.take());
          else {
            round.enter(waiter(`${each}`));
            model.enter(`${each}`);
          }
        }
      }),
      { numRuns: 300 },
    );
  });

  it('counts ten tenths as one', () => {
    const round = createTenantQueue({ quantumOf: (id) => (id === 'tenth' ? 0.1 : 1), isHeld: () => false });
    for (let at = 0; at < 40; at++) for (const tenantId of ['one', 'tenth']) round.enter(waiter(tenantId));
    const served = Array.from({ length: 33 }, () => round.take(256, () => true)?.tenantId);
    expect(served.flatMap((tenantId, at) => (tenantId === 'tenth' ? [at] : []))).toEqual([10, 21, 32]);
  });
});
