/** Numbers of nodes and what is kept under them: as Maps would have it, whoever keeps what for how long. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { NodeMap } from '../../src/domain/node-map.ts';
import { NodeNumbers, UNNUMBERED } from '../../src/domain/node-numbers.ts';

const NODES = ['node-1', 'node-2', 'node-3', 'node-4', ''];
const NODE = fc.constantFrom(...NODES);
const STEP = fc.record({
  do: fc.constantFrom('set' as const, 'delete' as const, 'keep' as const, 'drop' as const),
  map: fc.nat(1),
  node: NODE,
  value: fc.integer(),
});

describe('numbers of nodes', () => {
  it('maps that share them hold what Maps hold, and one number means one node', () => {
    fc.assert(
      fc.property(fc.array(STEP, { maxLength: 80 }), (steps) => {
        const numbers = new NodeNumbers();
        const maps = [new NodeMap<number>(numbers), new NodeMap<number>(numbers)] as const;
        const models = [new Map<string, number>(), new Map<string, number>()] as const;
        const kept: { node: string; number: number }[] = [];
        for (const { do: what, map: at, node, value } of steps) {
          const [map, model] = [maps[at] as NodeMap<number>, models[at] as Map<string, number>];
          if (what === 'set') {
            expect(map.set(node, value)).toBe(numbers.find(node));
            model.set(node, value);
          } else if (what === 'delete') expect(map.delete(node)).toBe(model.delete(node));
          else if (what === 'keep') kept.push({ node, number: numbers.keep(node) });
          else {
            const dropped = kept.pop();
            if (dropped !== undefined) numbers.drop(dropped.number);
          }
          const used = new Set([...models[0].keys(), ...models[1].keys(), ...kept.map((one) => one.node)]);
          expect(numbers.size).toBe(used.size);
          for (const each of NODES) {
            expect(numbers.find(each) !== UNNUMBERED).toBe(used.has(each));
            if (used.has(each)) expect(numbers.nameOf(numbers.find(each))).toBe(each);
            for (const one of [0, 1] as const) expect(maps[one].get(each)).toBe(models[one].get(each));
          }
          for (const one of kept) expect(numbers.find(one.node)).toBe(one.number);
          for (const one of [0, 1] as const) expect(maps[one].size).toBe(models[one].size);
        }
      }),
    );
  });

  it('does not take the node that was asked for last for the one that has its number now', () => {
    const numbers = new NodeNumbers();
    const number = numbers.keep('old');
    expect(numbers.nameOf(number)).toBe('old');
    numbers.drop(number);
    expect(numbers.find('old')).toBe(UNNUMBERED);
    expect(numbers.keep('new')).toBe(number);
    expect(numbers.find('old')).toBe(UNNUMBERED);
    expect(numbers.find('new')).toBe(number);
  });

  it('I11 bounded: there are as many numbers as there ever were nodes at once, however many came and went', () => {
    const numbers = new NodeNumbers();
    let highest = 0;
    for (let at = 0; at < 5_000; at++) {
      highest = Math.max(highest, numbers.keep(`node-${at}`));
      if (at >= 10) numbers.drop(numbers.find(`node-${at - 10}`));
    }
    expect(numbers.size).toBe(10);
    expect(highest).toBe(10);
  });
});
