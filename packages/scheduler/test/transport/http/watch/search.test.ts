/** Searches: by any part of a node's id, bounded in what they return, and with the names of silent instances. */
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../../../src/adapters/system/clock.ts';
import type { Gather } from '../../../../src/cluster/operators/gather.ts';
import { createFleetView } from '../../../../src/runtime/fleet/fleet-view.ts';
import { createSearch } from '../../../../src/transport/http/watch/search.ts';
import { nodeView } from '../../../runtime/fleet/fleet-fixture.ts';

/** Instance b does not answer. */
const gather: Gather = (_topic, readHere) => async (body) => ({
  parts: new Map([['a', await readHere(body)]]),
  unreachable: ['b'],
});

function start(nodes: number) {
  const fleet = createFleetView();
  for (let at = 0; at < nodes; at += 1) fleet.upsert(nodeView(`gpu-${at}`));
  return createSearch({
    clock: systemClock,
    fleet,
    originOf: (nodeId) => ({
      instanceId: 'a',
      region: nodeId.endsWith('7') ? 'eu' : 'us',
      zone: '',
      version: '',
      platform: '',
    }),
    reader: { get: async () => undefined, list: async () => ({ jobs: [] }) },
    sessions: { list: () => ({ sessions: [] }) },
    gather,
  });
}

describe('search', () => {
  it('finds a node by any part of its id, and by region', async () => {
    const search = start(1_500);
    const found = await search({ q: '1499', kind: 'nodes' });
    expect(found.nodes.map(({ node_id }) => node_id)).toEqual(['gpu-1499']);
    expect(found.truncated).toBe(false);
    const inEurope = await search({ q: '-149', region: 'eu' });
    expect(inEurope.nodes.map(({ node_id }) => node_id)).toEqual(['gpu-1497']);
  });

  it('I11: returns as many as asked for, and says that there are more', async () => {
    const found = await start(1_500)({ limit: 5 });
    expect(found.nodes).toHaveLength(5);
    expect(found.truncated).toBe(true);
  });

  it('names the instances that did not answer', async () => {
    expect(await start(0)({ kind: 'sessions' })).toMatchObject({ answered: ['a'], unreachable: ['b'] });
  });
});
