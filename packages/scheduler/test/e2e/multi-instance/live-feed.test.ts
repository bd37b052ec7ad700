/** The live feed of two instances on one Redis: each shows both. */
import type { ClusterReply, NodeDetail } from '@lingua/protocol';
import { expect, it } from 'vitest';
import { simulatedCapabilities } from '../../../src/cli/simulated-node/simulated-capabilities.ts';
import { watchLive } from '../support/live-stream.ts';
import { joinSdkNode, OUTPUT } from '../support/sdk-node.ts';
import { type Instance, startInstances } from './start-instances.ts';

const TEST_MS = 60_000;

it(
  'every instance shows the nodes and the figures of all',
  async () => {
    const { instances } = await startInstances(2);
    const [a, b] = instances as [Instance, Instance];
    await joinSdkNode({ url: a.nodeUrl, nodeId: 'node-a', onJob: async () => OUTPUT });
    await b.readyNodes(1);
    const live = await watchLive(b.url);
    const { data } = await live.next();
    expect(data.nodes.map((row) => [row[0], row[6]])).toEqual([['node-a', a.instanceId]]);

    const { job_id } = await a.dispatch();
    await a.settled(job_id);
    const { data: later } = await live.next(({ data: { figures } }) => (figures?.finished ?? 0) > 0);
    expect(later.figures?.instances).toBe(2);
    const { body } = await b.get<ClusterReply>('/api/v1/cluster');
    expect(body.store.masters).toEqual([{ address: expect.stringMatching(/:\d+$/), ok: true }]);
    expect(later.instances.map(({ instance_id }) => instance_id).sort()).toEqual(
      [a.instanceId, b.instanceId].sort(),
    );
  },
  TEST_MS,
);

it(
  'shows what the nodes of other instances are, and why an operator cordoned them',
  async () => {
    const { instances } = await startInstances(2);
    const [a, b] = instances as [Instance, Instance];
    const about = { region: 'eu', zone: 'eu-1', version: '2.1.0' };
    const capabilities = { ...simulatedCapabilities(['en', 'zh'], false), ...about };
    await joinSdkNode({ url: a.nodeUrl, nodeId: 'node-a', onJob: async () => OUTPUT, capabilities });
    await b.readyNodes(1);
    const live = await watchLive(b.url);
    const { data: snapshot } = await live.next();
    const named = (row: readonly unknown[] | undefined) =>
      Object.fromEntries(snapshot.node_columns.map((column, at) => [column, row?.[at]]));
    expect(named(snapshot.nodes[0])).toMatchObject({ ...about, platform: process.platform, cordoned: false });
    await b.post('/api/v1/nodes/node-a/cordon', { reason: 'noisy fan' });
    const { data } = await live.next(({ data: { nodes } }) => named(nodes?.[0]).cordoned === true);
    expect(named(data.nodes[0])).toMatchObject({ ...about, order_reason: 'noisy fan' });
    const { body } = await b.get<NodeDetail>('/api/v1/nodes/node-a');
    expect(body).toMatchObject({ cordoned: true, order_reason: 'noisy fan', version: '2.1.0' });
  },
  TEST_MS,
);
