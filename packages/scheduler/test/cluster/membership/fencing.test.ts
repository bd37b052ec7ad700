/** Self-fencing: what stands before the store refuses at once while the instance may have been taken for dead. */
import { describe, expect, it } from 'vitest';
import { unlessFenced } from '../../../src/cluster/membership/fencing.ts';

function createStore() {
  const state = { isFenced: false, asked: 0 };
  const port = {
    async answer(value: string): Promise<string> {
      state.asked += 1;
      return value;
    },
    level: () => 7,
    name: 'store',
  };
  return { state, store: unlessFenced(port, () => state.isFenced, ['level']) };
}

describe('a port behind the fence', () => {
  it('is the port, as long as the instance is not fenced', async () => {
    const { store } = createStore();
    expect(await store.answer('yes')).toBe('yes');
    expect([store.level(), store.name]).toEqual([7, 'store']);
  });

  it('asks nothing while it is, says what it knows by itself, and asks again after that', async () => {
    const { state, store } = createStore();
    state.isFenced = true;
    await expect(store.answer('yes')).rejects.toMatchObject({
      code: 'SCHEDULER_DEPENDENCY_DOWN',
      isUnsent: true,
    });
    expect([state.asked, store.level(), store.name]).toEqual([0, 7, 'store']);
    state.isFenced = false;
    expect(await store.answer('yes')).toBe('yes');
    expect(state.asked).toBe(1);
  });
});
