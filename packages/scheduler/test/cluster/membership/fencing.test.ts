/** Self-fencing: every port of a fenced instance rejects at once, without calling the store. */
import { describe, expect, it } from 'vitest';
import { unlessFenced } from '../../../src/cluster/membership/fencing.ts';

function createStore() {
  const state = { isFenced: false, requested: 0 };
  const port = {
    async answer(value: string): Promise<string> {
      state.requested += 1;
      return value;
    },
    level: () => 7,
    name: 'store',
  };
  return { state, store: unlessFenced(port, () => state.isFenced, ['level']) };
}

describe('a port of an instance that fences itself', () => {
  it('calls the store while the instance is not fenced', async () => {
    const { store } = createStore();
    expect(await store.answer('yes')).toBe('yes');
    expect([store.level(), store.name]).toEqual([7, 'store']);
  });

  it('rejects while fenced, except for methods that need no store', async () => {
    const { state, store } = createStore();
    state.isFenced = true;
    await expect(store.answer('yes')).rejects.toMatchObject({
      code: 'SCHEDULER_DEPENDENCY_DOWN',
      isUnsent: true,
    });
    expect([state.requested, store.level(), store.name]).toEqual([0, 7, 'store']);
    state.isFenced = false;
    expect(await store.answer('yes')).toBe('yes');
    expect(state.requested).toBe(1);
  });
});
