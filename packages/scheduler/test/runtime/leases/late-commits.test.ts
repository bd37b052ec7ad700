/** An acknowledgement after the driver abandoned the attempt: the lease is committed once more, or the attempt is cancelled. */
import { describe, expect, it } from 'vitest';
import { createFaultyRig } from '../rigs/faulty-rig.ts';
import { createRig, RESULT, SETTINGS } from '../rigs/rig.ts';

const { ackTimeoutMs, abandonedLeaseMs, jobTimeoutMs } = SETTINGS;

async function abandoned() {
  const made = createFaultyRig();
  await made.rig.addNode('node-a');
  const { jobId } = await made.rig.dispatch();
  await made.rig.clock.advance(ackTimeoutMs);
  expect(await made.rig.state(jobId)).toBe('RETRYING');
  const commits = made.ledger.calls('commit');
  return { ...made, jobId, lateCommits: () => made.ledger.calls('commit') - commits };
}

describe('an ordinary acknowledgement', () => {
  it('does not touch the lease, which the hand-over committed', async () => {
    const { rig, ledger } = createFaultyRig();
    await rig.addNode('node-a');
    const { jobId } = await rig.dispatch();
    await rig.service.acknowledge(rig.last(jobId));
    await rig.clock.advance(jobTimeoutMs - 1);
    expect([ledger.calls('commit'), await rig.used('node-a')]).toEqual([1, 1]);
  });

  it('of a fetched job commits again with durability "replica"', async () => {
    const { rig, ledger } = createFaultyRig({ isReplicaAwaited: true });
    await rig.addNode('node-a');
    rig.onDelivery('node-a', () => ({ kind: 'queued' }));
    const { jobId } = await rig.dispatch();
    await rig.service.acknowledge(rig.last(jobId));
    expect(ledger.calls('commit')).toBe(2);
  });
});

describe('I1 no oversell: a late acknowledgement', () => {
  it('commits the lease for as long as the job may run', async () => {
    const { rig, jobId, lateCommits } = await abandoned();
    expect((await rig.service.acknowledge(rig.last(jobId))).kind).toBe('accepted');
    await rig.clock.advance(abandonedLeaseMs + 1);
    expect([await rig.state(jobId), await rig.used('node-a'), lateCommits()]).toEqual(['RUNNING', 1, 1]);
  });

  it('takes a free slot again after its lease ended', async () => {
    const rig = createRig({ settings: { pendingTimeoutMs: 60_000 } });
    await rig.addNode('node-a');
    const { jobId } = await rig.dispatch();
    await rig.clock.advance(ackTimeoutMs + abandonedLeaseMs);
    expect(await rig.used('node-a')).toBe(0);
    expect((await rig.service.acknowledge(rig.last(jobId))).kind).toBe('accepted');
    expect([await rig.state(jobId), await rig.used('node-a')]).toEqual(['RUNNING', 1]);
  });

  it('is refused and cancelled when another job has the slot', async () => {
    const rig = createRig({ settings: { pendingTimeoutMs: 60_000 } });
    await rig.addNode('node-a');
    const { jobId } = await rig.dispatch();
    await rig.clock.advance(ackTimeoutMs + abandonedLeaseMs);
    await rig.ledger.reserve('node-a', 'job-other:1', 60_000);
    expect(await rig.service.acknowledge(rig.last(jobId))).toEqual({ kind: 'ignored', reason: 'lease_lost' });
    expect(rig.cancelled.at(-1)).toMatchObject({ nodeId: 'node-a', reason: 'lease_lost' });
  });

  it('is accepted while the ledger is away, and committed when it answers', async () => {
    const { rig, ledger, jobId, lateCommits } = await abandoned();
    const next = ledger.calls('commit') + 1;
    ledger.plan({ method: 'commit', at: [next, next + 1, next + 2], fault: 'throw' });
    expect((await rig.service.acknowledge(rig.last(jobId))).kind).toBe('accepted');
    await rig.clock.advance(abandonedLeaseMs + 1);
    expect([await rig.state(jobId), await rig.used('node-a'), lateCommits()]).toEqual(['RUNNING', 1, 4]);
  });

  it('stops committing when the attempt is over', async () => {
    const { rig, ledger, jobId, lateCommits } = await abandoned();
    ledger.plan({ method: 'commit', at: [ledger.calls('commit') + 1], fault: 'throw' });
    await rig.service.acknowledge(rig.last(jobId));
    await rig.service.finish(rig.last(jobId), RESULT);
    await rig.clock.advance(10_000);
    expect([lateCommits(), await rig.used('node-a')]).toEqual([1, 0]);
  });

  it('stops committing when other instances drive the job', async () => {
    const { rig, ledger, jobId, lateCommits } = await abandoned();
    ledger.plan({ method: 'commit', at: [ledger.calls('commit') + 1], fault: 'throw' });
    await rig.service.acknowledge(rig.last(jobId));
    rig.service.dropAll();
    await rig.clock.advance(1_000);
    expect(lateCommits()).toBe(1);
  });
});
