/** Deficit round robin over tenants, as properties of long runs: shares, bounds, order, classes. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  PRIORITIES,
  priorityWithin,
  WAITING_CLASSES,
  type WaitingClass,
} from '../../../src/domain/tenancy.ts';
import { createWaitingQueue, type Waiter } from '../../../src/runtime/queue/waiting-queue.ts';
import { createManualClock } from '../../support/manual-clock.ts';

interface Named extends Waiter {
  readonly number: number;
}

/** A queue whose tenants have these weights, and what it has served. */
function createFixture(weights: Readonly<Record<string, number>> = {}) {
  const heaviest = Math.max(1, ...Object.values(weights));
  const held = new Set<string>();
  const queue = createWaitingQueue({
    clock: createManualClock(),
    maxWaiting: 1_000_000,
    backstopMs: 250,
    tenants: {
      quantumOf: (tenantId) => (weights[tenantId] ?? 1) / heaviest,
      maxWaitingOf: () => Number.POSITIVE_INFINITY,
      isHeld: (tenantId) => held.has(tenantId),
    },
  });
  const served: Named[] = [];
  let number = 0;
  const join = (tenantId: string, given: Partial<Waiter> = {}): Named => {
    const waiter: Named = {
      tenantId,
      shape: 'any',
      class: 'normal',
      since: 0,
      directions: [{ source: 'en', target: 'zh' }],
      number: number++,
      fits: () => true,
      hasCandidate: () => true,
      wake: () => served.push(waiter),
      ...given,
    };
    queue.join(waiter);
    return waiter;
  };
  const count = (tenantId: string): number => served.filter((each) => each.tenantId === tenantId).length;
  return { queue, served, join, count, held };
}

const weight = fc.oneof(
  fc.constantFrom(0.1, 1, 100),
  fc.integer({ min: 1, max: 1_000 }).map((n) => n / 10),
);
const weightsOf = fc.array(weight, { minLength: 2, maxLength: 6 });
const named = (weights: readonly number[]): Record<string, number> =>
  Object.fromEntries(weights.map((each, at) => [`t${at}`, each]));

describe('tenants whose jobs wait', () => {
  it('are served in proportion to their weights', () => {
    fc.assert(
      fc.property(weightsOf, fc.integer({ min: 1, max: 2_000 }), (list, wakes) => {
        const weights = named(list);
        const { queue, join, count, served } = createFixture(weights);
        // Two jobs each: a served tenant still has one waiting, and joins again at once.
        for (const tenantId of Object.keys(weights)) for (const _ of [1, 2]) join(tenantId);
        for (let i = 0; i < wakes; i++) {
          queue.wake('node');
          join(served.at(-1)?.tenantId ?? '');
        }
        const total = list.reduce((sum, each) => sum + each, 0);
        for (const [tenantId, each] of Object.entries(weights)) {
          // A tenant differs from its share by at most one own job and one turn of each other tenant.
          const others = list.length;
          expect(Math.abs(count(tenantId) - (wakes * each) / total)).toBeLessThanOrEqual(
            1 + others * (each / total),
          );
        }
      }),
      { numRuns: 150 },
    );
  });

  it('with equal weights take turns one by one', () => {
    fc.assert(
      fc.property(fc.integer({ min: 2, max: 20 }), fc.integer({ min: 1, max: 30 }), (tenants, jobs) => {
        const { queue, join, served } = createFixture();
        for (let tenant = 0; tenant < tenants; tenant++) for (let i = 0; i < jobs; i++) join(`t${tenant}`);
        while (queue.wake('node')) {}
        const order = Array.from({ length: jobs * tenants }, (_, at) => `t${at % tenants}`);
        expect(served.map(({ tenantId }) => tenantId)).toEqual(order);
      }),
      { numRuns: 50 },
    );
  });

  it('a dependant goes before the new work of its tenant, and not before that of others', () => {
    const { queue, join, served } = createFixture();
    join('a', { shape: 'one' });
    join('a', { shape: 'two' });
    join('b');
    const first = join('a', { shape: 'two', isDependant: true });
    const second = join('a', { shape: 'three', isDependant: true });
    while (queue.wake('node')) {}
    expect(served.map(({ tenantId }) => tenantId)).toEqual(['a', 'b', 'a', 'a', 'a']);
    expect(served.filter(({ tenantId }) => tenantId === 'a').slice(0, 2)).toEqual([first, second]);
  });

  it('of equal weight are equal beside an absent heavier one', () => {
    const { queue, join, served } = createFixture({ away: 100 });
    for (const tenantId of ['a', 'a', 'a', 'b', 'b', 'b', 'c']) join(tenantId);
    while (queue.wake('node')) {}
    expect(served.map(({ tenantId }) => tenantId)).toEqual(['a', 'b', 'c', 'a', 'b', 'a', 'b']);
  });

  it('are skipped no more often than the weights allow', () => {
    fc.assert(
      fc.property(
        weightsOf,
        fc.array(fc.record({ tenant: fc.nat(5), node: fc.constantFrom('x', 'y') }), {
          minLength: 1,
          maxLength: 200,
        }),
        fc.infiniteStream(fc.constantFrom('x', 'y')),
        (list, arrivals, slots) => {
          const weights = named(list);
          const { queue, join, served } = createFixture(weights);
          for (const { tenant, node } of arrivals) {
            join(`t${tenant % list.length}`, { shape: node, fits: (nodeId) => nodeId === node });
          }
          const passed = new Map<string, number>();
          // One turn of the lightest equals as many jobs of each other tenant as the ratio of the weights.
          const most = list.length * (2 + Math.max(...list, 1) / Math.min(...list, 1));
          for (let i = 0; i < arrivals.length; i++) {
            const node = slots.next().value as string;
            const before = served.length;
            const left = remaining(arrivals, served, list.length, node);
            queue.wake(node);
            expect(served.length > before).toBe(left.size > 0);
            const winner = served.at(-1)?.tenantId;
            for (const tenantId of left) {
              const times =
                served.length > before && tenantId !== winner ? (passed.get(tenantId) ?? 0) + 1 : 0;
              passed.set(tenantId, times);
              expect(times).toBeLessThanOrEqual(most);
            }
          }
        },
      ),
      { numRuns: 100 },
    );
  });

  it('have their jobs served in order of arrival', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.nat(2), fc.nat(2)), { minLength: 1, maxLength: 60 }),
        fc.infiniteStream(fc.tuple(fc.integer({ min: 1, max: 4 }), fc.boolean())),
        (arrivals, rounds) => {
          const { queue, join, served } = createFixture();
          for (const [tenant, shape] of arrivals) join(`t${tenant}`, { shape });
          const done: Named[] = [];
          while (queue.size() > 0) {
            const [wakes, isInVain] = rounds.next().value as [number, boolean];
            served.length = 0;
            for (let i = 0; i < wakes; i++) queue.wake('node');
            if (isInVain) for (const waiter of served) queue.rejoin(waiter);
            else done.push(...served);
          }
          for (const tenantId of ['t0', 't1', 't2']) {
            const numbers = done.filter((each) => each.tenantId === tenantId).map((each) => each.number);
            expect(numbers).toEqual([...numbers].sort((a, b) => a - b));
          }
          expect(done).toHaveLength(arrivals.length);
        },
      ),
      { numRuns: 100 },
    );
  });

  it('pay nothing for a failed wake-up', () => {
    const { queue, join, served } = createFixture({ light: 0.25, heavy: 1 });
    const saved = join('light');
    queue.wake('node');
    queue.rejoin(saved);
    for (const tenantId of ['heavy', 'heavy', 'heavy']) join(tenantId);
    while (queue.wake('node')) {}
    expect(served.map(({ tenantId }) => tenantId)).toEqual(['light', 'light', 'heavy', 'heavy', 'heavy']);
  });

  it('keep no credit when none of their jobs waits', () => {
    const { queue, join, served } = createFixture({ light: 0.5, heavy: 1 });
    const gone = join('light');
    join('heavy');
    // Half a job of credit is lost by leaving.
    queue.wake('node');
    queue.leave(gone);
    for (const tenantId of ['light', 'heavy', 'heavy', 'heavy']) join(tenantId);
    while (queue.wake('node')) {}
    expect(served.map(({ tenantId }) => tenantId)).toEqual(['heavy', 'heavy', 'light', 'heavy', 'heavy']);
  });
});

describe('classes', () => {
  it('are served strictly: retries, high, normal, low', () => {
    const classes = fc.array(fc.constantFrom(...WAITING_CLASSES), { minLength: 1, maxLength: 80 });
    fc.assert(
      fc.property(classes, fc.array(fc.nat(3)), (list, tenants) => {
        const { queue, join, served } = createFixture({ t0: 0.1, t1: 3 });
        for (const [at, each] of list.entries()) join(`t${tenants[at] ?? 0}`, { class: each });
        while (queue.wake('node')) {}
        const ranks = served.map((each) => WAITING_CLASSES.indexOf(each.class));
        expect(ranks).toEqual([...ranks].sort((a, b) => a - b));
        expect(ranks).toHaveLength(list.length);
      }),
      { numRuns: 100 },
    );
  });

  it('lower ones are served by slots that fit no higher one', () => {
    const { queue, join, served } = createFixture();
    join('a', { class: 'high', fits: (nodeId) => nodeId === 'other' });
    join('a', { class: 'low' });
    queue.wake('node');
    expect(served.map((each): WaitingClass => each.class)).toEqual(['low']);
  });

  it("are limited by the tenant's ceiling, which is also the default", () => {
    for (const ceiling of PRIORITIES) {
      expect(priorityWithin(ceiling, undefined)).toBe(ceiling);
      for (const requested of PRIORITIES) {
        const rank = Math.max(PRIORITIES.indexOf(ceiling), PRIORITIES.indexOf(requested));
        expect(priorityWithin(ceiling, requested)).toBe(PRIORITIES[rank]);
      }
    }
  });
});

describe('tenants at their cap', () => {
  it('are skipped, keep their turn, and are served later', () => {
    const { queue, join, served, held } = createFixture();
    join('a');
    join('b');
    join('a', { class: 'retry' });
    held.add('a');
    while (queue.wake('node')) {}
    expect(served.map(({ tenantId }) => tenantId)).toEqual(['a', 'b']);
    held.delete('a');
    queue.wakeOf('a');
    expect(served.map(({ tenantId }) => tenantId)).toEqual(['a', 'b', 'a']);
    expect(queue.size()).toBe(0);
  });
});

describe('I11 bounded: thousands of jobs that a slot does not fit', () => {
  it.each([
    ['tenants', (at: number) => ({ tenantId: `t${at}`, shape: 'any' })],
    ['shapes of one tenant', (at: number) => ({ tenantId: 'one', shape: at })],
    ['shapes of the same tenant', (at: number) => ({ tenantId: 'fit', shape: at })],
  ])('cost a bounded number of checks and hide no job: %s', (_, place) => {
    const { queue, join, served } = createFixture();
    let looks = 0;
    const misfit = (): boolean => {
      looks += 1;
      return false;
    };
    for (let at = 0; at < 2_000; at++) {
      const { tenantId, shape } = place(at);
      join(tenantId, { shape, fits: misfit });
    }
    join('fit');
    let wakes = 0;
    for (; served.length === 0 && wakes < 100; wakes++) {
      looks = 0;
      queue.wake('node');
      expect(looks).toBeLessThanOrEqual(256);
    }
    expect(served.map(({ tenantId }) => tenantId)).toEqual(['fit']);
    expect(wakes).toBeLessThanOrEqual(9);
  });
});

/** Tenants with a job that this node could serve. */
function remaining(
  arrivals: readonly { tenant: number; node: string }[],
  served: readonly Named[],
  tenants: number,
  node: string,
): Set<string> {
  const done = new Set(served.map(({ number }) => number));
  return new Set(
    arrivals.flatMap((each, at) =>
      each.node === node && !done.has(at) ? [`t${each.tenant % tenants}`] : [],
    ),
  );
}
