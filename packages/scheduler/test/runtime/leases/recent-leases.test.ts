/** The engine remembers released and abandoned leases, so that a failover cannot undo that. */
import { describe, expect, it } from 'vitest';
import { createRig, RESULT } from '../rigs/rig.ts';

describe('an engine whose store may lose writes', () => {
  const lossy = () =>
    createRig({ wrapStore: (store) => ({ ...store, restore: async () => 'kept' as const }) });

  it('remembers released leases of finished and of retried attempts', async () => {
    const rig = lossy();
    await rig.addNode('node-a');
    const done = await rig.dispatch();
    await rig.service.finish(rig.last(done.jobId), RESULT);
    const failed = await rig.dispatch();
    await rig.service.fail(rig.last(failed.jobId), { code: 'PROCESSING_ERROR', message: 'x' });
    await rig.addNode('node-b');
    const cancelled = await rig.dispatch();
    await rig.service.cancel(cancelled.jobId, 'stop');
    expect(rig.service.snapshotForReplay().released).toEqual([
      { lease: `${done.jobId}:1`, nodeId: 'node-a' },
      { lease: `${failed.jobId}:1`, nodeId: 'node-a' },
    ]);
  });

  it('remembers abandoned leases until other instances drive its jobs', async () => {
    const rig = lossy();
    await rig.addNode('node-a');
    const { jobId } = await rig.dispatch();
    await rig.service.acknowledge(rig.last(jobId));
    await rig.service.cancel(jobId, 'stop');
    expect(rig.service.snapshotForReplay().abandoned).toEqual([{ lease: `${jobId}:1`, nodeId: 'node-a' }]);
    rig.service.dropAll();
    expect(rig.service.snapshotForReplay().abandoned).toEqual([]);
  });

  it('releases a lease again that a failover brought back', async () => {
    const rig = lossy();
    await rig.addNode('node-a');
    const { jobId } = await rig.dispatch();
    await rig.service.finish(rig.last(jobId), RESULT);
    await rig.ledger.reserve('node-a', `${jobId}:1`, 60_000);
    for (const { lease, nodeId } of rig.service.snapshotForReplay().released)
      await rig.service.releaseAgain(nodeId, lease);
    expect(await rig.used('node-a')).toBe(0);
  });

  it('forgets released leases when other instances drive its jobs', async () => {
    const rig = lossy();
    await rig.addNode('node-a');
    const { jobId } = await rig.dispatch();
    await rig.service.finish(rig.last(jobId), RESULT);
    rig.service.dropAll();
    expect(rig.service.snapshotForReplay().released).toEqual([]);
  });
});
