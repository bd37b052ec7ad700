/** A ledger that does not answer the commit of an acknowledged attempt: its job runs, and so its slot stays its own. */
import { describe, expect, it } from 'vitest';
import { createFaultyRig } from './faulty-rig.ts';
import { deployedProfile, RESULT, SETTINGS } from './rig.ts';

/** Past the end of a reservation, which is all that the attempt has without its commit. */
const PAST_RESERVATION_MS = 10_000;

const acknowledged = async (at: readonly number[]) => {
  const made = createFaultyRig();
  await made.rig.addNode('node-a');
  made.ledger.plan({ method: 'commit', at, fault: 'throw' });
  const { jobId } = await made.rig.dispatch();
  expect((await made.rig.service.acknowledge(made.rig.last(jobId))).kind).toBe('accepted');
  return { ...made, jobId };
};

describe('I1 a commit that is not answered', () => {
  it('is made again, before the reservation ends and somebody else gets the slot', async () => {
    const { rig, ledger, jobId } = await acknowledged([1, 2, 3]);
    await rig.clock.advance(PAST_RESERVATION_MS);
    expect([await rig.state(jobId), await rig.used('node-a')]).toEqual(['RUNNING', 1]);
    expect(ledger.calls('commit')).toBe(4);
  });

  it('is made again for a node that never acknowledges, and not once it has answered', async () => {
    const { rig, ledger } = createFaultyRig();
    await rig.addNode('node-old', 2, deployedProfile());
    ledger.plan({ method: 'commit', at: [1, 2, 3], fault: 'throw' });
    const quick = await rig.dispatch();
    await rig.service.finish(rig.last(quick.jobId), RESULT);
    await rig.dispatch();
    await rig.clock.advance(PAST_RESERVATION_MS);
    expect([ledger.calls('commit'), await rig.used('node-old')]).toEqual([4, 1]);
  });

  it('is undone if a node that never acknowledges has answered before it was', async () => {
    const { rig, ledger } = createFaultyRig();
    await rig.addNode('node-old', 1, deployedProfile());
    ledger.plan({ method: 'commit', fault: { delayMs: 300 } });
    const dispatching = rig.service.dispatch(rig.request());
    await rig.clock.advance(10);
    const [sent] = rig.sent;
    await rig.service.finish({ nodeId: 'node-old', jobId: sent?.job.jobId ?? '', attempt: 1 }, RESULT);
    await rig.clock.advance(1_000);
    await dispatching;
    expect(await rig.used('node-old')).toBe(0);
  });

  it('is made again for an attempt that was given up, though its late acknowledgement takes longer to be written', async () => {
    const { rig, store, ledger } = createFaultyRig();
    await rig.addNode('node-a');
    const { jobId } = await rig.dispatch();
    await rig.clock.advance(SETTINGS.ackTimeoutMs + 100);
    expect(await rig.state(jobId)).toBe('RETRYING');
    ledger.plan({ method: 'commit', at: [1], fault: 'throw' });
    store.plan({ method: 'move', at: [1, 2, 3].map((later) => store.calls('move') + later), fault: 'throw' });
    const acknowledging = rig.service.acknowledge(rig.last(jobId));
    await rig.clock.advance(PAST_RESERVATION_MS);
    expect([(await acknowledging).kind, await rig.state(jobId)]).toEqual(['accepted', 'RUNNING']);
    expect([ledger.calls('commit'), await rig.used('node-a')]).toEqual([2, 1]);
  });

  it('is not made again for an attempt that was given up since', async () => {
    const { rig, ledger, jobId } = await acknowledged([1]);
    rig.service.nodeLeft('node-a', 0);
    await rig.clock.advance(1_000);
    expect([await rig.state(jobId), ledger.calls('commit')]).toEqual(['RETRYING', 1]);
  });

  it('is not made again for a job that others drive by now', async () => {
    const { rig, ledger } = await acknowledged([1]);
    rig.service.abandonAll();
    await rig.clock.advance(1_000);
    expect(ledger.calls('commit')).toBe(1);
  });

  it('is not made again for an attempt that is over', async () => {
    const { rig, ledger, jobId } = await acknowledged([1]);
    await rig.service.finish(rig.last(jobId), RESULT);
    await rig.clock.advance(PAST_RESERVATION_MS);
    expect([ledger.calls('commit'), await rig.used('node-a')]).toEqual([1, 0]);
  });

  it('has the slot again for as long as the job may run, if it ended meanwhile and nobody else has it', async () => {
    const { rig, ledger, jobId } = await acknowledged(Array.from({ length: 24 }, (_, index) => index + 1));
    await rig.clock.advance(5_100);
    expect(await rig.used('node-a')).toBe(0);
    ledger.heal();
    await rig.clock.advance(PAST_RESERVATION_MS);
    expect([await rig.state(jobId), await rig.used('node-a')]).toEqual(['RUNNING', 1]);
  });

  it('I2 no leak: holds the slot no longer for having come late', async () => {
    const { rig, ledger } = createFaultyRig();
    await rig.addNode('node-old', 2, deployedProfile());
    ledger.plan({
      method: 'commit',
      at: Array.from({ length: 12 }, (_, index) => index + 1),
      fault: 'throw',
    });
    const { jobId } = await rig.dispatch();
    await rig.clock.advance(4_000);
    expect(ledger.calls('commit')).toBeGreaterThan(12);
    const { jobTimeoutMs, leaseGraceMs } = SETTINGS;
    expect(rig.service.slotLeftMs(jobId)).toBe(jobTimeoutMs + leaseGraceMs - 4_000);
    await rig.clock.advance(jobTimeoutMs - 3_000);
    expect([await rig.state(jobId), await rig.used('node-old')]).toEqual(['RELEASED', 1]);
    await rig.clock.advance(leaseGraceMs);
    expect(await rig.used('node-old')).toBe(0);
  });

  it('holds the slot only for a moment if it comes when nobody waits for it any more', async () => {
    const { rig } = createFaultyRig();
    await rig.addNode('node-a');
    await rig.ledger.commit('node-a', 'job-gone:1', 60_000);
    expect(await rig.used('node-a')).toBe(1);
    await rig.clock.advance(5_000);
    expect(await rig.used('node-a')).toBe(0);
  });

  it('gives the attempt up if the slot turns out to be another’s when it is', async () => {
    const { rig, ledger, jobId } = await acknowledged(Array.from({ length: 24 }, (_, index) => index + 1));
    await rig.addNode('node-b');
    await rig.clock.advance(5_100);
    await rig.ledger.reserve('node-a', 'job-other:1', 60_000);
    ledger.heal();
    await rig.clock.advance(1_000);
    expect(rig.cancelled[0]).toMatchObject({ nodeId: 'node-a', reason: 'lease_lost' });
    expect(rig.last(jobId)).toMatchObject({ nodeId: 'node-b', attempt: 2 });
  });
});
