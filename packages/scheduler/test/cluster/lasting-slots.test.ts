/** Which slots on nodes of others need nobody else to keep them: said as one number, of which nothing is claimed that is not so. */
import { describe, expect, it } from 'vitest';
import { createLastingSlots } from '../../src/cluster/holder/lasting-slots.ts';

const SLOT_MS = 5_000;

function start() {
  const state = { now: 1_000 };
  const slots = createLastingSlots({ now: () => state.now });
  const left = (lease: string, nodeId = 'n'): number => slots.left(nodeId, lease, state.now + SLOT_MS);
  return { state, slots, left };
}

describe('slots that last by themselves', () => {
  it('are numbered in their order, and none lasts before it is said to', () => {
    const { slots, left } = start();
    expect(slots.upTo()).toBe(0);
    expect([left('a:1'), left('b:1'), left('c:1')]).toEqual([1, 2, 3]);
    expect(slots.upTo()).toBe(0);
  });

  it('I1 no oversell: are held back by one before them that is not known to last', () => {
    const { slots, left } = start();
    for (const lease of ['a:1', 'b:1', 'c:1']) left(lease);
    slots.settled('n', 'b:1');
    slots.settled('n', 'c:1');
    expect(slots.upTo()).toBe(0);
    slots.settled('n', 'a:1');
    expect(slots.upTo()).toBe(3);
    left('d:1');
    expect(slots.upTo()).toBe(3);
  });

  it('are not held back by one whose reservation has ended: nothing is left to be kept', () => {
    const { state, slots, left } = start();
    left('a:1');
    state.now += 1_000;
    left('b:1');
    state.now += SLOT_MS - 1_001;
    expect(slots.upTo()).toBe(0);
    state.now += 1;
    expect([slots.upTo(), slots.size()]).toEqual([1, 1]);
    state.now += 1_000;
    expect([slots.upTo(), slots.size()]).toEqual([2, 0]);
  });

  it('are told apart by their nodes: an attempt that did not leave is made on another under the same name', () => {
    const { slots, left } = start();
    left('a:1', 'n1');
    slots.settled('n1', 'a:1');
    left('a:1', 'n2');
    slots.settled('n1', 'a:1');
    expect(slots.upTo()).toBe(1);
  });

  it('have another number when they leave again, behind all others', () => {
    const { slots, left } = start();
    left('a:1');
    left('b:1');
    expect(left('a:1')).toBe(3);
    expect(slots.upTo()).toBe(1);
    slots.settled('n', 'b:1');
    expect(slots.upTo()).toBe(2);
  });

  it('I11 bounded: are forgotten with their reservation, though nobody asks for them', () => {
    const { state, slots, left } = start();
    for (let job = 0; job < 1_000; job += 1) {
      left(`job-${job}:1`);
      state.now += 100;
    }
    expect(slots.size()).toBe(SLOT_MS / 100);
  });
});
