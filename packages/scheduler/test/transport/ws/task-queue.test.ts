import { describe, expect, it } from 'vitest';
import { createTaskQueue } from '../../../src/transport/ws/task-queue.ts';

describe('task queue', () => {
  function queue(limits = { maxWaiting: 4, maxWeight: 1_000 }) {
    const events: string[] = [];
    const inOrder = createTaskQueue({
      ...limits,
      full: () => events.push('full'),
      eased: () => events.push('eased'),
      failed: (fault) => events.push(`failed ${(fault as Error).message}`),
    });
    return { inOrder, events };
  }

  it('a task runs immediately when no other is running', () => {
    const { inOrder, events } = queue();
    inOrder.push(() => void events.push('a'), 1);
    inOrder.push(() => void events.push('b'), 1);
    expect(events).toEqual(['a', 'b']);
  });

  it('a task waits for the previous one, also when that fails', async () => {
    const { inOrder, events } = queue();
    let fail = (_: Error) => {};
    const first = new Promise<void>((_, reject) => {
      fail = reject;
    });
    inOrder.push(() => first, 1);
    inOrder.push(() => {
      throw new Error('second');
    }, 1);
    const third = new Promise<void>((resolve) =>
      inOrder.push(() => {
        events.push('third');
        resolve();
      }, 1),
    );
    expect(events).toEqual([]);
    fail(new Error('first'));
    await third;
    expect(events).toEqual(['failed first', 'failed second', 'third']);
  });

  it.each([
    ['too many', { maxWaiting: 4, maxWeight: 1_000 }, 1],
    ['too much', { maxWaiting: 1_000, maxWeight: 40 }, 10],
  ])('the queue reports full when %s wait, and eased at half', async (_, limits, weight) => {
    const { inOrder, events } = queue(limits);
    let release = () => {};
    inOrder.push(
      () =>
        new Promise((resolve) => {
          release = resolve;
        }),
      weight,
    );
    for (let waiting = 1; waiting <= 4; waiting += 1) {
      expect(inOrder.isFull()).toBe(false);
      inOrder.push(() => void events.push(`done ${waiting}`), weight);
    }
    expect(inOrder.isFull()).toBe(true);
    const last = new Promise<void>((resolve) => inOrder.push(() => resolve(), 0));
    release();
    await last;
    expect(events.filter((event) => event === 'full' || event === 'eased')).toEqual(['full', 'eased']);
    expect(events.filter((event) => event.startsWith('done'))).toHaveLength(4);
  });
});
