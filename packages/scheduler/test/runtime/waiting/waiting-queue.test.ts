/** The waiting queue by itself: turns, limits, order and the backstop. */
import { describe, expect, it } from 'vitest';
import { createWaitingQueue, type Waiter } from '../../../src/runtime/queue/waiting-queue.ts';
import { createManualClock } from '../../support/manual-clock.ts';

interface Limits {
  readonly maxWaiting?: number;
  readonly maxWaitingPerTenant?: number;
  readonly quanta?: Readonly<Record<string, number>>;
}

function createFixture(limits: Limits = {}) {
  const held = new Set<string>();
  const clock = createManualClock();
  const queue = createWaitingQueue({
    clock,
    maxWaiting: limits.maxWaiting ?? 100,
    tenants: {
      quantumOf: (tenantId) => limits.quanta?.[tenantId] ?? 1,
      maxWaitingOf: () => limits.maxWaitingPerTenant ?? 100,
      isHeld: (tenantId) => held.has(tenantId),
    },
    backstopMs: 250,
  });
  const woken: string[] = [];
  const waiter = (name: string, tenantId: string, overrides: Partial<Waiter> = {}): Waiter => ({
    tenantId,
    shape: 'any',
    class: 'normal',
    since: 0,
    directions: [{ source: 'en', target: 'zh' }],
    fits: () => true,
    hasCandidate: () => false,
    wake: () => woken.push(name),
    ...overrides,
  });
  return { clock, queue, woken, waiter, held };
}

describe('waiting queue', () => {
  it('wakes one waiter per freed slot, tenants in turn', () => {
    const { queue, woken, waiter } = createFixture();
    for (const name of ['a1', 'a2', 'a3']) queue.join(waiter(name, 'a'));
    for (const name of ['b1', 'b2']) queue.join(waiter(name, 'b'));
    for (let i = 0; i < 6; i++) queue.wake('node-1');
    expect(woken).toEqual(['a1', 'b1', 'a2', 'b2', 'a3']);
    expect(queue.size()).toBe(0);
  });

  it('serves retries first and never refuses one', () => {
    const { queue, woken, waiter } = createFixture({ maxWaiting: 1 });
    expect(queue.join(waiter('new', 'a'))).toBe('joined');
    expect(queue.join(waiter('too many', 'a'))).toBe('full');
    expect(queue.join(waiter('retry', 'a', { class: 'retry' }))).toBe('joined');
    queue.wake('node-1');
    queue.wake('node-1');
    expect(woken).toEqual(['retry', 'new']);
  });

  it('puts a waiter back at the head after a failed wake-up', () => {
    const { queue, woken, waiter } = createFixture();
    const first = waiter('first', 'a');
    queue.join(first);
    queue.join(waiter('second', 'a'));
    queue.wake('node-1');
    queue.rejoin(first);
    queue.wake('node-1');
    queue.wake('node-1');
    expect(woken).toEqual(['first', 'first', 'second']);
  });

  it('does not wake a waiter that has left', () => {
    const { queue, woken, waiter } = createFixture();
    const gone = waiter('gone', 'a');
    queue.join(gone);
    expect(queue.leave(gone)).toBe(true);
    expect(queue.leave(gone)).toBe(false);
    queue.wake('node-1');
    expect(woken).toEqual([]);
  });

  it('the backstop finds a missed waiter and idles without waiters', async () => {
    const { clock, queue, woken, waiter } = createFixture();
    let isFree = false;
    queue.join(waiter('missed', 'a', { hasCandidate: () => isFree }));
    await clock.advance(1_000);
    expect(woken).toEqual([]);
    isFree = true;
    await clock.advance(250);
    expect(woken).toEqual(['missed']);
    await clock.advance(250);
    expect(clock.pending()).toBe(0);
  });

  it('skips many waiters that do not fit', () => {
    const { queue, woken, waiter } = createFixture();
    for (let i = 0; i < 60; i++) queue.join(waiter(`misfit ${i}`, 'a', { shape: 'fr', fits: () => false }));
    queue.join(waiter('same tenant', 'a', { shape: 'en' }));
    queue.join(waiter('other tenant', 'b', { shape: 'en' }));
    queue.wake('node-1');
    queue.wake('node-1');
    expect(woken.sort()).toEqual(['other tenant', 'same tenant']);
  });

  it('serves a tenant in arrival order, whatever the shapes', () => {
    const { queue, woken, waiter } = createFixture();
    for (const [name, shape] of [
      ['1', 'en'],
      ['2', 'fr'],
      ['3', 'en'],
      ['4', 'fr'],
    ] as const) {
      queue.join(waiter(name, 'a', { shape }));
    }
    for (let i = 0; i < 4; i++) queue.wake('node-1');
    expect(woken).toEqual(['1', '2', '3', '4']);
  });
});
