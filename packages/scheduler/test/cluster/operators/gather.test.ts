/** A question to all instances: the answers by instance, and the names of those that did not answer. */
import { describe, expect, it } from 'vitest';
import { createGather, gatherHere } from '../../../src/cluster/operators/gather.ts';

describe('gather', () => {
  it('adds the answer of this instance to those of the others', async () => {
    const handlers = new Map<string, (body: unknown) => Promise<unknown>>();
    const asked: unknown[] = [];
    const gather = createGather({
      bus: { on: (topic, handle) => void handlers.set(topic, (body) => handle(body, 'b', false)) },
      ask: async (topic, _lane, body) => {
        asked.push([topic, body]);
        return { answers: new Map([['b', 20]]), unreachable: ['c'] };
      },
      self: () => ({ instanceId: 'a' }),
    });
    const double = gather('double', async ({ of }: { of: number }) => 2 * of);
    expect(await double({ of: 5 })).toEqual({
      parts: new Map([
        ['a', 10],
        ['b', 20],
      ]),
      unreachable: ['c'],
    });
    expect(asked).toEqual([['double', { of: 5 }]]);
    expect(await handlers.get('double')?.({ of: 4 })).toBe(8);
  });

  it('of a single instance asks only itself', async () => {
    const gathered = await gatherHere('a')('x', async () => 1)({});
    expect(gathered).toEqual({ parts: new Map([['a', 1]]), unreachable: [] });
  });
});
