/** Reports that arrive before the driver knows that its assignment was sent, or after it abandoned the attempt. */
import { describe, expect, it } from 'vitest';
import type { Delivery } from '../../../src/ports/node-link.ts';
import { attemptHistoryOf } from '../../../src/runtime/takeover/attempt-history.ts';
import type { JobDrivers } from '../../../src/runtime/takeover/job-drivers.ts';
import { createRig, legacyProfile, SETTINGS } from '../rigs/rig.ts';

const DRIVERS: JobDrivers = {
  claim: async () => ({ kind: 'theirs' }),
  placingResult: async () => undefined,
  offerAudio: () => {},
};

/** A job on its way to the holder of node-a: `sent` answers the send. */
async function sendWithoutReply({ isLegacy = false } = {}) {
  const rig = createRig({ drivers: DRIVERS });
  await rig.addNode('node-a', 1, isLegacy ? legacyProfile() : undefined);
  let reply: (delivery: Delivery) => void = () => {};
  rig.onDelivery('node-a', () => new Promise((resolve) => (reply = resolve)));
  const outcome = rig.service.dispatch(rig.request({ requestId: 'r', fingerprint: 'f' }));
  await rig.clock.advance(1);
  const jobId = (await rig.store.bound('default', 'r'))?.jobId ?? '';
  const sent = async () => {
    reply({ kind: 'sent' });
    await rig.clock.advance(1);
    return outcome;
  };
  return { rig, jobId, attempt: { nodeId: 'node-a', jobId, attempt: 1 }, sent };
}

async function sentToHolder() {
  const made = await sendWithoutReply();
  await made.sent();
  return made;
}

describe('a report that arrives before the reply of the send', () => {
  it.each(['acknowledged', 'dispatched'] as const)(
    'keeps the connection that it names (%s)',
    async (kind) => {
      const { rig, jobId, attempt, sent } = await sendWithoutReply({ isLegacy: kind === 'dispatched' });
      if (kind === 'dispatched') await rig.service.dispatched(attempt, { generation: 5 });
      else await rig.service.acknowledge({ ...attempt, generation: 5 });
      await sent();
      await rig.addNode('node-b');
      rig.service.nodeReturned('node-a', [], 6);
      await rig.clock.advance(1_000);
      expect(rig.last(jobId)).toMatchObject({ nodeId: 'node-b', attempt: 2 });
    },
  );

  it('counts no placement after the holder reported `undeliverable`', async () => {
    const { rig, attempt, sent } = await sendWithoutReply();
    await rig.service.undeliverable(attempt, 'no_connection');
    const before = rig.placements.length;
    await sent();
    expect(rig.placements).toHaveLength(before);
  });

  it('does not cancel a later attempt on the same node', async () => {
    const { rig, jobId, attempt, sent } = await sendWithoutReply();
    await rig.service.undeliverable(attempt, 'no_connection');
    rig.onDelivery('node-a', () => ({ kind: 'written' }));
    await rig.clock.advance(2_000);
    expect((await rig.service.acknowledge({ ...attempt, attempt: 2 })).kind).toBe('accepted');
    await sent();
    expect([await rig.state(jobId), rig.cancelled]).toEqual(['RUNNING', []]);
  });
});

describe('a node that names a job when it reconnects', () => {
  it('loses the job when it reconnects once more without it', async () => {
    const { rig, jobId } = await sentToHolder();
    rig.service.nodeReturned('node-a', [jobId], 6);
    await rig.clock.advance(10);
    expect(await rig.state(jobId)).toBe('RUNNING');
    await rig.addNode('node-b');
    rig.service.nodeReturned('node-a', [], 7);
    await rig.clock.advance(1_000);
    expect(rig.last(jobId)).toMatchObject({ nodeId: 'node-b', attempt: 2 });
  });
});

describe('a job that the holder reports as undeliverable', () => {
  it('is tried again on its only node although the attempt was abandoned', async () => {
    const { rig, jobId, attempt } = await sentToHolder();
    await rig.clock.advance(SETTINGS.ackTimeoutMs + 100);
    await rig.service.undeliverable(attempt, 'expired');
    rig.onDelivery('node-a', () => ({ kind: 'written' }));
    await rig.clock.advance(5_000);
    expect(rig.last(jobId)).toMatchObject({ nodeId: 'node-a', attempt: 2 });
  });

  it('has no counted retry and no excluded node for a new driver', async () => {
    const { rig, jobId, attempt } = await sentToHolder();
    await rig.addNode('node-b');
    rig.onDelivery('node-b', () => ({ kind: 'sent' }));
    await rig.service.undeliverable(attempt, 'no_connection');
    await rig.service.undeliverable({ ...attempt, nodeId: 'node-b', attempt: 2 }, 'no_connection');
    const record = await rig.store.get(jobId);
    if (record === undefined) throw new Error('the job has a record');
    expect(attemptHistoryOf(record)).toMatchObject({
      attempts: 2,
      retries: 0,
      sentTo: [],
      lastFailure: { code: 'NODE_UNAVAILABLE' },
    });
  });
});

describe('the snapshot for the replay after a failover', () => {
  it('I1 no oversell: says that a job in the inbox of a holder was not handed over', async () => {
    const { rig, attempt } = await sentToHolder();
    const leases = () => rig.service.snapshotForReplay().inFlight.flatMap((job) => job.leases);
    expect(leases()).toMatchObject([{ nodeId: 'node-a', isHandedOver: false }]);
    expect(leases()[0]?.leftMs).toBeGreaterThan(0);
    await rig.service.acknowledge({ ...attempt, generation: 5 });
    expect(leases()).toMatchObject([{ nodeId: 'node-a', isHandedOver: true }]);
  });
});
