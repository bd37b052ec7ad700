/** What the registry tells statistics of its nodes. */
import { describe, expect, it } from 'vitest';
import type { CountedNode, NodeRegistry } from '../../../src/management/node-registry.ts';
import { createFixture } from '../registry-fixture.ts';

const hardware = () => ({ cpuCores: 8, memoryGb: 32, gpusGb: [12] });

function counted(registry: NodeRegistry): CountedNode[] {
  const found: CountedNode[] = [];
  const nodes = registry.census();
  for (let next = nodes.next(); next.done !== true; next = nodes.next()) found.push(next.value);
  return found;
}

describe('the census', () => {
  it('contains the nodes that are online, and no others', async () => {
    const { registry, join, readyNode, clock } = createFixture();
    await readyNode({ nodeId: 'ready' });
    await join({ nodeId: 'registering' });
    const lost = await readyNode({ nodeId: 'lost' });
    registry.disconnected('lost', lost.generation);
    expect(counted(registry).map(({ nodeId }) => nodeId)).toEqual(['ready', 'registering']);
    await clock.advance(120_000);
    expect(counted(registry)).toEqual([]);
  });

  it('can be read with pauses while nodes come and go', async () => {
    const { registry, readyNode } = createFixture();
    for (const nodeId of ['a', 'b', 'c']) await readyNode({ nodeId });
    const nodes = registry.census();
    expect(nodes.next().value.nodeId).toBe('a');
    registry.overtaken('b', 99);
    await readyNode({ nodeId: 'd' });
    expect([nodes.next(), nodes.next(), nodes.next()].map(({ value }) => value?.nodeId)).toEqual([
      'c',
      'd',
      undefined,
    ]);
  });

  it('contains the hardware of a node, shared by equal nodes', async () => {
    const { registry, readyNode } = createFixture();
    await readyNode({ nodeId: 'a', hardware: hardware() });
    await readyNode({ nodeId: 'b', hardware: hardware() });
    const [a, b] = counted(registry);
    expect(a?.identity.hardware).toEqual(hardware());
    expect(a?.identity.hardware).toBe(b?.identity.hardware);
  });

  it('keeps the hardware when a later registration omits it', async () => {
    const { registry, readyNode } = createFixture();
    await readyNode({ hardware: hardware() });
    await readyNode({});
    expect(counted(registry)[0]?.identity.hardware).toEqual(hardware());
  });

  it('contains at most eight valid recent speeds of services', async () => {
    const { registry, readyNode, beat } = createFixture();
    await readyNode();
    await beat({
      efficiencies: [
        ['asr-1', 4.5],
        ['broken', Number.NaN],
        ['negative', -1],
      ],
    });
    await beat({});
    expect(counted(registry)[0]?.efficiencies).toEqual([['asr-1', 4.5]]);
    await beat({ efficiencies: Array.from({ length: 20 }, (_, at) => [`s-${at}`, at] as const) });
    expect(counted(registry)[0]?.efficiencies).toHaveLength(8);
  });
});
