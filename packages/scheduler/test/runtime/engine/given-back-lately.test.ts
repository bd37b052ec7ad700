/** Slots given back a moment ago: known as long as a ledger may have to be told again, and never more than there is room for. */
import { describe, expect, it } from 'vitest';
import { createRecentlyReleased } from '../../../src/runtime/takeover/recently-released.ts';
import { createManualClock } from '../../support/manual-clock.ts';
import { createRig, RESULT } from './rig.ts';

function createKept(maxCount = 100) {
  const clock = createManualClock();
  const lately = createRecentlyReleased({ clock, keepMs: 10_000, maxCount });
  return { clock, lately, leases: () => lately.all().map(([lease]) => lease) };
}

describe('slots given back a moment ago', () => {
  it('are known for their time, and not for twice as long', async () => {
    const { clock, lately, leases } = createKept();
    await clock.advance(9_000);
    lately.note('node-a', 'a:1');
    await clock.advance(2_000);
    lately.note('node-b', 'b:1');
    lately.note('node-b', 'b:1');
    expect(lately.all()).toEqual([
      ['a:1', 'node-a'],
      ['b:1', 'node-b'],
    ]);
    await clock.advance(9_900);
    expect(leases()).toEqual(['a:1', 'b:1']);
    await clock.advance(1_000);
    expect(leases()).toEqual(['b:1']);
    await clock.advance(20_000);
    expect(leases()).toEqual([]);
  });

  it('make room for newer ones', () => {
    const { lately, leases } = createKept(4);
    for (const lease of ['a', 'b', 'c', 'd', 'e']) lately.note('node-a', lease);
    expect(leases()).toEqual(['c', 'd', 'e']);
    lately.clear();
    expect(leases()).toEqual([]);
  });
});

describe('an engine whose store may forget', () => {
  const forgetful = () =>
    createRig({ wrapStore: (store) => ({ ...store, restore: async () => 'kept' as const }) });

  it('knows the slots of the attempts that are over, of retried jobs too, and not those of nodes that may still work', async () => {
    const rig = forgetful();
    await rig.addNode('node-a');
    const done = await rig.dispatch();
    await rig.service.finish(rig.last(done.jobId), RESULT);
    const failed = await rig.dispatch();
    await rig.service.fail(rig.last(failed.jobId), { code: 'PROCESSING_ERROR', message: 'x' });
    await rig.addNode('node-b');
    const cancelled = await rig.dispatch();
    await rig.service.cancel(cancelled.jobId, 'stop');
    expect(rig.service.leasesToReleaseAgain()).toEqual([
      [`${done.jobId}:1`, 'node-a'],
      [`${failed.jobId}:1`, 'node-a'],
    ]);
  });

  it('knows the slots of attempts that were given up and may still run: a ledger that forgot that would keep them for a minute', async () => {
    const rig = forgetful();
    await rig.addNode('node-a');
    const { jobId } = await rig.dispatch();
    await rig.service.acknowledge(rig.last(jobId));
    await rig.service.cancel(jobId, 'stop');
    expect(rig.service.slotsToFenceAgain()).toEqual([[`${jobId}:1`, 'node-a']]);
    rig.service.abandonAll();
    expect(rig.service.slotsToFenceAgain()).toEqual([]);
  });

  it('gives a slot back again that a failover brought back', async () => {
    const rig = forgetful();
    await rig.addNode('node-a');
    const { jobId } = await rig.dispatch();
    await rig.service.finish(rig.last(jobId), RESULT);
    await rig.ledger.reserve('node-a', `${jobId}:1`, 60_000);
    for (const [lease, nodeId] of rig.service.leasesToReleaseAgain())
      await rig.service.releaseAgain(nodeId, lease);
    expect(await rig.used('node-a')).toBe(0);
  });

  it('says no more of slots once others drive its jobs', async () => {
    const rig = forgetful();
    await rig.addNode('node-a');
    const { jobId } = await rig.dispatch();
    await rig.service.finish(rig.last(jobId), RESULT);
    rig.service.abandonAll();
    expect(rig.service.leasesToReleaseAgain()).toEqual([]);
  });
});
