/** Places that belong to nodes: a list of places per node, newest first. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { NodeChains } from '../../src/domain/numbered/node-chains.ts';
import { NOWHERE } from '../../src/domain/numbered/numbered-places.ts';

const PLACES = [0, 1, 15, 16, 40, 200];
const NODES = [0, 3, 16, 500];

function read(chains: NodeChains, node: number): number[] {
  const places: number[] = [];
  for (let place = chains.first(node); place !== NOWHERE; place = chains.after(place)) places.push(place);
  return places;
}

it('keeps the places of every node, the newest first', () => {
  const step = fc.record({ node: fc.constantFrom(...NODES), place: fc.constantFrom(...PLACES) });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const [chains, model] = [new NodeChains(), new Map(NODES.map((node) => [node, [] as number[]]))];
      const owners = new Map<number, number>();
      for (const { node, place } of steps) {
        const owner = owners.get(place);
        if (owner === undefined) {
          chains.add(node, place);
          model.get(node)?.unshift(place);
          owners.set(place, node);
        } else {
          chains.remove(owner, place);
          model.set(owner, model.get(owner)?.filter((one) => one !== place) ?? []);
          owners.delete(place);
        }
        for (const each of NODES) expect(read(chains, each)).toEqual(model.get(each));
      }
    }),
  );
});

it('has no place for an unknown node', () => {
  expect(read(new NodeChains(), 10_000)).toEqual([]);
});
