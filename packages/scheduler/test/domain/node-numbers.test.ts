/** Numbers of nodes and the tables under them behave like Maps. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { NodeAccounts, SLOTS } from '../../src/adapters/memory/node-accounts.ts';
import { NodeNumbers, UNNUMBERED } from '../../src/domain/numbered/node-numbers.ts';

const NODES = ['node-1', 'node-2', 'node-3', 'node-4', ''];
const NODE = fc.constantFrom(...NODES);
const STEP = fc.record({
  do: fc.constantFrom('open' as const, 'close' as const, 'keep' as const, 'drop' as const),
  table: fc.nat(1),
  node: NODE,
  slots: fc.nat(100),
});

function slotsIn(table: NodeAccounts, nodeId: string): number | undefined {
  const number = table.find(nodeId);
  return number === UNNUMBERED ? undefined : table.read(number, SLOTS);
}

describe('numbers of nodes', () => {
  it('tables that share them behave like Maps', () => {
    fc.assert(
      fc.property(fc.array(STEP, { maxLength: 80 }), (steps) => {
        const numbers = new NodeNumbers();
        const tables = [new NodeAccounts(numbers), new NodeAccounts(numbers)] as const;
        const models = [new Map<string, number>(), new Map<string, number>()] as const;
        const kept: { node: string; number: number }[] = [];
        for (const { do: what, table: at, node, slots } of steps) {
          const [table, model] = [tables[at] as NodeAccounts, models[at] as Map<string, number>];
          if (what === 'open') {
            const number = model.has(node) ? table.find(node) : table.open(node);
            expect(number).toBe(numbers.find(node));
            table.write(number, SLOTS, slots);
            model.set(node, slots);
          } else if (what === 'close') {
            if (model.delete(node)) table.close(table.find(node));
          } else if (what === 'keep') kept.push({ node, number: numbers.keep(node) });
          else {
            const dropped = kept.pop();
            if (dropped !== undefined) numbers.drop(dropped.number);
          }
          const used = new Set([...models[0].keys(), ...models[1].keys(), ...kept.map((one) => one.node)]);
          expect(numbers.size).toBe(used.size);
          for (const each of NODES) {
            expect(numbers.find(each) !== UNNUMBERED).toBe(used.has(each));
            if (used.has(each)) expect(numbers.nameOf(numbers.find(each))).toBe(each);
            for (const one of [0, 1] as const) expect(slotsIn(tables[one], each)).toBe(models[one].get(each));
          }
          for (const one of kept) expect(numbers.find(one.node)).toBe(one.number);
        }
      }),
    );
  });

  it('does not confuse a node with the previous owner of its number', () => {
    const numbers = new NodeNumbers();
    const number = numbers.keep('old');
    expect(numbers.nameOf(number)).toBe('old');
    numbers.drop(number);
    expect(numbers.find('old')).toBe(UNNUMBERED);
    expect(numbers.keep('new')).toBe(number);
    expect(numbers.find('old')).toBe(UNNUMBERED);
    expect(numbers.find('new')).toBe(number);
  });

  it('I11 bounded: reuses the numbers of nodes that left', () => {
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
