/** The fault wrapper fails the named calls, counts calls, and does not affect others. */
import { describe, expect, it } from 'vitest';
import { isPending } from '../contracts/harness.ts';
import { faulty } from './faulty.ts';
import { createManualClock } from './manual-clock.ts';

interface Tally {
  readonly unit: string;
  add(by: number): Promise<number>;
  read(): Promise<number>;
  peek(): number;
}

function createTally(): Tally {
  let sum = 0;
  return {
    unit: 'slots',
    async add(by) {
      sum += by;
      return sum;
    },
    read: async () => sum,
    peek: () => sum,
  };
}

describe('faulty', () => {
  it('throws at the named calls of the named method, before any effect', async () => {
    const tally = createTally();
    const { port } = faulty(tally, { method: 'add', at: [2, 3], fault: 'throw' }, createManualClock());
    expect(await port.add(1)).toBe(1);
    await expect(port.add(10)).rejects.toMatchObject({ code: 'SCHEDULER_DEPENDENCY_DOWN' });
    expect(await port.read()).toBe(1);
    await expect(port.add(100)).rejects.toThrow('injected fault in call 3 of add');
    expect(await port.add(1_000)).toBe(1_001);
  });

  it('throws after the effect', async () => {
    const tally = createTally();
    const { port } = faulty(
      tally,
      { method: 'add', at: [1], fault: 'throw_after_effect' },
      createManualClock(),
    );
    await expect(port.add(7)).rejects.toMatchObject({ code: 'SCHEDULER_DEPENDENCY_DOWN' });
    expect(await port.read()).toBe(7);
  });

  it('rejects, never throws, if the port returns a promise', () => {
    const { port } = faulty(createTally(), { fault: 'throw' }, createManualClock());
    let promise: Promise<unknown> | undefined;
    expect(() => {
      promise = port.add(1);
    }).not.toThrow();
    return expect(promise).rejects.toThrow();
  });

  it('makes a call reach the port late', async () => {
    const clock = createManualClock();
    const tally = createTally();
    const { port } = faulty(tally, { method: 'add', fault: { delayMs: 50 } }, clock);
    const answer = port.add(1);
    await clock.advance(49);
    expect(tally.peek()).toBe(0);
    await clock.advance(1);
    expect(await answer).toBe(1);
  });

  it('makes an answer come late, after the effect', async () => {
    const clock = createManualClock();
    const tally = createTally();
    const { port } = faulty(tally, { method: 'add', fault: { answerDelayMs: 50 } }, clock);
    const answer = port.add(1);
    await clock.advance(0);
    expect(tally.peek()).toBe(1);
    await clock.advance(49);
    expect(await isPending(answer)).toBe(true);
    await clock.advance(1);
    expect(await answer).toBe(1);
  });

  it('counts calls of any method for a rule without one', async () => {
    const { port } = faulty(createTally(), { at: [2], fault: 'throw' }, createManualClock());
    await port.read();
    await expect(port.add(1)).rejects.toThrow();
    expect(await port.read()).toBe(0);
  });

  it('fails every call for a rule without numbers, with its error', async () => {
    const error = new Error('connection lost');
    const { port } = faulty(createTally(), { method: 'add', fault: 'throw', error }, createManualClock());
    for (let call = 0; call < 3; call += 1) await expect(port.add(1)).rejects.toBe(error);
    expect(await port.read()).toBe(0);
  });

  it('applies the first matching rule', async () => {
    const tally = createTally();
    const { port } = faulty(
      tally,
      [
        { method: 'add', at: [1], fault: 'throw_after_effect' },
        { method: 'add', fault: 'throw' },
      ],
      createManualClock(),
    );
    await expect(port.add(1)).rejects.toThrow();
    await expect(port.add(1)).rejects.toThrow();
    expect(tally.peek()).toBe(1);
  });

  it('counts calls and faults, by method and in all', async () => {
    const wrapper = faulty(createTally(), { method: 'add', at: [1], fault: 'throw' }, createManualClock());
    await expect(wrapper.port.add(1)).rejects.toThrow();
    await wrapper.port.add(1);
    await wrapper.port.read();
    expect([wrapper.calls(), wrapper.calls('add'), wrapper.calls('read'), wrapper.calls('peek')]).toEqual([
      3, 2, 1, 0,
    ]);
    expect([wrapper.struck(), wrapper.struck('add'), wrapper.struck('read')]).toEqual([1, 1, 0]);
  });

  it('changes and drops its rules while it is in use', async () => {
    const wrapper = faulty(createTally(), [], createManualClock());
    expect(await wrapper.port.add(1)).toBe(1);
    wrapper.plan({ fault: 'throw' });
    await expect(wrapper.port.add(1)).rejects.toThrow();
    wrapper.heal();
    expect(await wrapper.port.add(1)).toBe(2);
  });

  it('throws from synchronous methods and cannot delay them', () => {
    const tally = createTally();
    const wrapper = faulty(tally, { method: 'peek', fault: 'throw' }, createManualClock(), ['peek']);
    expect(() => wrapper.port.peek()).toThrow('injected fault');
    wrapper.plan({ method: 'peek', fault: { delayMs: 5 } });
    expect(() => wrapper.port.peek()).toThrow(TypeError);
    wrapper.heal();
    expect(wrapper.port.peek()).toBe(0);
  });

  it('does not affect other calls', async () => {
    const tally = createTally();
    const { port } = faulty(tally, { method: 'add', fault: 'throw' }, createManualClock());
    expect(port.unit).toBe('slots');
    expect(port.peek()).toBe(0);
    expect(port.read).toBe(port.read);
  });
});
