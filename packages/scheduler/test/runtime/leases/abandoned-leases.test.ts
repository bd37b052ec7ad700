/** The lease of an abandoned attempt: it is marked, shortened where the node should have acknowledged, and ends. */
import { describe, expect, it } from 'vitest';
import { createRig, legacyProfile, SETTINGS } from '../rigs/rig.ts';

const { ackTimeoutMs, abandonedLeaseMs, jobTimeoutMs, leaseGraceMs } = SETTINGS;

async function loseNode(failures: number) {
  let calls = 0;
  const rig = createRig({
    wrapLedger: (ledger) => ({
      ...ledger,
      abandon(...args) {
        calls += 1;
        return calls <= failures ? Promise.reject(new Error('the store is away')) : ledger.abandon(...args);
      },
    }),
  });
  await rig.addNode('node-a');
  const { jobId } = await rig.dispatch();
  await rig.service.acknowledge(rig.last(jobId));
  await rig.service.cancel(jobId, 'stop');
  await rig.clock.advance(100);
  return { rig, times: () => calls };
}

describe('I2 no leak: the mark of an abandoned lease', () => {
  it('is written again every second until the store answers', async () => {
    const { rig, times } = await loseNode(3);
    expect(times()).toBe(1);
    await rig.clock.advance(2_500);
    expect(times()).toBe(3);
    await rig.clock.advance(30_000);
    expect(times()).toBe(4);
  });

  it('is no longer written when the lease must have ended', async () => {
    const { rig, times } = await loseNode(Number.POSITIVE_INFINITY);
    await rig.clock.advance(600_000);
    const most = times();
    expect(most).toBeGreaterThan(5);
    await rig.clock.advance(600_000);
    expect(times()).toBe(most);
  });
});

describe('the lease of an abandoned attempt', () => {
  it('ends soon after the next heartbeat if the node never acknowledged', async () => {
    const rig = createRig();
    await rig.addNode('node-a');
    await rig.dispatch();
    await rig.clock.advance(ackTimeoutMs + abandonedLeaseMs - 1);
    expect(await rig.used('node-a')).toBe(1);
    await rig.clock.advance(1);
    expect(await rig.used('node-a')).toBe(0);
  });

  it('keeps its length if the node had acknowledged', async () => {
    const rig = createRig();
    await rig.addNode('node-a');
    const { jobId } = await rig.dispatch();
    await rig.service.acknowledge(rig.last(jobId));
    await rig.service.cancel(jobId, 'stop');
    await rig.clock.advance(jobTimeoutMs + leaseGraceMs - 1);
    expect(await rig.used('node-a')).toBe(1);
    await rig.clock.advance(1);
    expect(await rig.used('node-a')).toBe(0);
  });

  it('keeps its length on a legacy node, which never acknowledges', async () => {
    const rig = createRig();
    await rig.addNode('node-old', 1, legacyProfile());
    const { jobId } = await rig.dispatch();
    await rig.service.cancel(jobId, 'stop');
    await rig.clock.advance(jobTimeoutMs + leaseGraceMs - 1);
    expect(await rig.used('node-old')).toBe(1);
  });

  it('is proven gone by a report that does not name the job', async () => {
    const rig = createRig();
    await rig.addNode('node-a');
    const { jobId } = await rig.dispatch();
    await rig.service.cancel(jobId, 'stop');
    await rig.ledger.reconcile('node-a', { running: 0, runningJobIds: [] });
    expect(await rig.used('node-a')).toBe(0);
  });
});
