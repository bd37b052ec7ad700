/** Orders of operators hold wherever their node connects next. */
import type { NodeDetail } from '@lingua/protocol';
import { expect, it } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { joinSdkNode, OUTPUT } from '../support/sdk-node.ts';
import { type Instance, startInstances } from './start-instances.ts';

const nodeAt = (instance: Instance) =>
  joinSdkNode({ url: instance.nodeUrl, nodeId: 'node-1', onJob: async () => OUTPUT });

const detailAt = async (instance: Instance): Promise<NodeDetail> =>
  (await instance.get<NodeDetail>('/api/v1/nodes/node-1')).body;

const isHeldBy = ({ instanceId }: Instance, seenBy: Instance) =>
  eventually(async () => (await detailAt(seenBy)).instance_id === instanceId);

async function startPair(): Promise<[Instance, Instance]> {
  return (await startInstances(2)).instances as [Instance, Instance];
}

for (const leave of ['kill', 'stop'] as const) {
  it(`a cordon with its reason holds after the node's ${leave} and return elsewhere`, async () => {
    const [a, b] = await startPair();
    const node = await nodeAt(a);
    await b.readyNodes(1);
    await b.post('/api/v1/nodes/node-1/cordon', { reason: 'noisy fan' });
    await node[leave]();
    await nodeAt(b);
    await isHeldBy(b, a);
    for (const each of [a, b]) {
      expect(await detailAt(each)).toMatchObject({ cordoned: true, order_reason: 'noisy fan' });
      expect((await each.tryDispatch()).status).toBe(503);
    }
  });
}

it('a drain holds after the node returned elsewhere, an uncordon ends it there', async () => {
  const [a, b] = await startPair();
  const node = await nodeAt(a);
  await b.readyNodes(1);
  await a.post('/api/v1/nodes/node-1/drain', { reason: 'new driver' });
  node.kill();
  const moved = await nodeAt(b);
  await isHeldBy(b, a);
  expect(await detailAt(a)).toMatchObject({ status: 'draining', order_reason: 'new driver' });
  await a.post('/api/v1/nodes/node-1/uncordon', {});
  moved.kill();
  await nodeAt(a);
  await isHeldBy(a, b);
  await b.readyNodes(1);
  expect(await detailAt(b)).not.toHaveProperty('order_reason');
  const { job_id } = await b.dispatch();
  expect(await b.settled(job_id)).toMatchObject({ outcome: 'finished' });
});
