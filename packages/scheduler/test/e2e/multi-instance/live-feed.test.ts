/** The live feed of two instances on one Redis: each shows both. */
import type { ClusterReply } from '@lingua/protocol';
import { expect, it } from 'vitest';
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
