/** Recently released or abandoned leases are remembered for a failover, bounded by time and count. */
import { describe, expect, it } from 'vitest';
import { createRecentlyReleased } from '../../../src/runtime/takeover/recently-released.ts';
import { createManualClock } from '../../support/manual-clock.ts';
import { createRig, RESULT } from '../rigs/rig.ts';

function createKept(maxCount = 100) {
  const clock = createManualClock();
  const recent = createRecentlyReleased({ clock, keepMs: 10_000, maxCount });
  return { clock, recent, leases: () => recent.all().map(({ lease }) => lease) };
}

describe('recent leases', () => {
  it('are remembered for at least keepMs and less than twice that', async () => {
    const { clock, recent, leases } = createKept();
    await clock.advance(9_000);
    recent.note('node-a', 'a:1');
    await clock.advance(2_000);
    recent.note('node-b', 'b:1');
    recent.note('node-b', 'b:1');
    expect(recent.all()).toEqual([
      { lease: 'a:1', nodeId: 'node-a' },
      { lease: 'b:1', nodeId: 'node-b' },
    ]);
    await clock.advance(9_900);
    expect(leases()).toEqual(['a:1', 'b:1']);
    await clock.advance(1_000);
    expect(leases()).toEqual(['b:1']);
    await clock.advance(20_000);
    expect(leases()).toEqual([]);
  });

  it('drop the oldest ones at the limit', () => {
    const { recent, leases } = createKept(4);
    for (const lease of ['a', 'b', 'c', 'd', 'e']) recent.note('node-a', lease);
    expect(leases()).toEqual(['c', 'd', 'e']);
    recent.clear();
    expect(leases()).toEqual([]);
  });
});

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
    expect(rig.service.leasesToReleaseAgain()).toEqual([
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
    expect(rig.service.leasesToAbandonAgain()).toEqual([{ lease: `${jobId}:1`, nodeId: 'node-a' }]);
    rig.service.dropAll();
    expect(rig.service.leasesToAbandonAgain()).toEqual([]);
  });

  it('releases a lease again that a failover brought back', async () => {
    const rig = lossy();
    await rig.addNode('node-a');
    const { jobId } = await rig.dispatch();
    await rig.service.finish(rig.last(jobId), RESULT);
    await rig.ledger.reserve('node-a', `${jobId}:1`, 60_000);
    for (const { lease, nodeId } of rig.service.leasesToReleaseAgain())
      await rig.service.releaseAgain(nodeId, lease);
    expect(await rig.used('node-a')).toBe(0);
  });

  it('forgets released leases when other instances drive its jobs', async () => {
    const rig = lossy();
    await rig.addNode('node-a');
    const { jobId } = await rig.dispatch();
    await rig.service.finish(rig.last(jobId), RESULT);
    rig.service.dropAll();
    expect(rig.service.leasesToReleaseAgain()).toEqual([]);
  });
});
