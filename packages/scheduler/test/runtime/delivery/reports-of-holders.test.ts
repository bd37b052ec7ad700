/** Assignments in the inbox of the node's holder: the driver goes by the reports of the holder and of the node. */
import { describe, expect, it } from 'vitest';
import type { JobDrivers } from '../../../src/runtime/takeover/job-drivers.ts';
import { createRig, legacyProfile, RESULT, type Rig, SETTINGS } from '../rigs/rig.ts';
import { createInstances } from '../rigs/two-instances.ts';

const DRIVERS: JobDrivers = {
  claim: async () => ({ kind: 'theirs' }),
  placingResult: async () => undefined,
  offerAudio: () => {},
};

const published = (rig: Rig, jobId: string) =>
  rig.published.filter((job) => job.jobId === jobId).map(({ state }) => state);

/** One job, sent to the holder of node-a. */
async function sentToHolder({ isLegacy = false } = {}) {
  const rig = createRig({ drivers: DRIVERS });
  await rig.addNode('node-a', 1, isLegacy ? legacyProfile() : undefined);
  rig.onDelivery('node-a', () => ({ kind: 'sent' }));
  const { jobId } = await rig.dispatch();
  return { rig, jobId, attempt: { nodeId: 'node-a', jobId, attempt: 1 } };
}

describe('a job sent to the holder of a node that acknowledges', () => {
  it('is written as RUNNING through DISPATCHED with the acknowledgement', async () => {
    const { rig, jobId, attempt } = await sentToHolder();
    expect(await rig.state(jobId)).toBe('RESERVED');
    expect((await rig.service.acknowledge({ ...attempt, generation: 5 })).kind).toBe('accepted');
    expect((await rig.store.get(jobId))?.timeline.map(({ state }) => state)).toEqual([
      'CREATED',
      'RESERVED',
      'DISPATCHED',
      'RUNNING',
    ]);
    expect((await rig.service.finish(attempt, RESULT)).kind).toBe('accepted');
    expect(await rig.used('node-a')).toBe(0);
  });

  it('is tried elsewhere without an acknowledgement, and the node is blamed', async () => {
    const { rig, jobId } = await sentToHolder();
    await rig.addNode('node-b');
    await rig.clock.advance(SETTINGS.ackTimeoutMs + 100);
    expect(rig.last(jobId)).toMatchObject({ nodeId: 'node-b', attempt: 2 });
    expect(rig.outcomes).toEqual([{ nodeId: 'node-a', outcome: 'failed' }]);
    expect(await rig.used('node-a')).toBe(1);
  });

  it('is tried elsewhere at once when the node leaves', async () => {
    const { rig, jobId } = await sentToHolder();
    await rig.addNode('node-b');
    rig.service.nodeLeft('node-a', 0);
    await rig.clock.advance(10);
    expect(rig.last(jobId)).toMatchObject({ nodeId: 'node-b', attempt: 2 });
  });

  it('is not lost to a list that the node sent before it acknowledged', async () => {
    const { rig, jobId, attempt } = await sentToHolder();
    await rig.addNode('node-b');
    rig.service.nodeReturned('node-a', [], 5);
    await rig.service.acknowledge({ ...attempt, generation: 5 });
    rig.service.nodeReturned('node-a', [], 5);
    await rig.clock.advance(10);
    expect(await rig.state(jobId)).toBe('RUNNING');
    rig.service.nodeReturned('node-a', [], 6);
    await rig.clock.advance(10);
    expect(rig.last(jobId)).toMatchObject({ nodeId: 'node-b', attempt: 2 });
  });
});

describe('a job sent to the holder of a legacy node', () => {
  it('is written and published as DISPATCHED with the report of the holder', async () => {
    const { rig, jobId, attempt } = await sentToHolder({ isLegacy: true });
    expect([await rig.state(jobId), published(rig, jobId)]).toEqual(['RESERVED', []]);
    expect((await rig.service.dispatched(attempt, { generation: 5 })).kind).toBe('accepted');
    expect([await rig.state(jobId), published(rig, jobId)]).toEqual(['DISPATCHED', ['DISPATCHED']]);
    await rig.clock.advance(2 * SETTINGS.ackTimeoutMs);
    expect(await rig.state(jobId)).toBe('DISPATCHED');
    expect((await rig.service.finish(attempt, RESULT)).kind).toBe('accepted');
    expect(await rig.used('node-a')).toBe(0);
  });

  it('is not written twice when the report comes twice', async () => {
    const { rig, jobId, attempt } = await sentToHolder({ isLegacy: true });
    for (let times = 0; times < 2; times++) await rig.service.dispatched(attempt, { generation: 5 });
    expect(published(rig, jobId)).toEqual(['DISPATCHED']);
  });

  it('is tried elsewhere without a report, and the node is not blamed', async () => {
    const { rig, jobId } = await sentToHolder({ isLegacy: true });
    await rig.addNode('node-b');
    await rig.clock.advance(SETTINGS.ackTimeoutMs + 100);
    expect(rig.last(jobId)).toMatchObject({ nodeId: 'node-b', attempt: 2 });
    expect(rig.outcomes).toEqual([{ nodeId: 'node-a', outcome: 'unproven' }]);
  });

  it('stays with the node if a takeover comes before the report of the holder', async () => {
    const { first, second, addNode, takeOver, record } = createInstances({ drivers: DRIVERS });
    await addNode('node-a', 1, legacyProfile());
    first.onDelivery('node-a', () => ({ kind: 'sent' }));
    const { jobId } = await first.dispatch();
    await takeOver(jobId);
    await second.service.dispatched({ nodeId: 'node-a', jobId, attempt: 1 }, { generation: 5 });
    expect((await record(jobId)).state).toBe('DISPATCHED');
    await second.clock.advance(2 * SETTINGS.ackTimeoutMs);
    expect((await second.service.finish({ nodeId: 'node-a', jobId, attempt: 1 }, RESULT)).kind).toBe(
      'accepted',
    );
  });
});

describe('a job that the holder reports as undeliverable', () => {
  it('I2 no leak: frees the slot and goes to another node, without a counted retry', async () => {
    const { rig, jobId, attempt } = await sentToHolder();
    await rig.addNode('node-b');
    await rig.service.undeliverable(attempt, 'no_connection');
    expect(rig.last(jobId)).toMatchObject({ nodeId: 'node-b', attempt: 2 });
    expect(await rig.used('node-a')).toBe(0);
    expect([rig.outcomes, rig.cancelled]).toEqual([[{ nodeId: 'node-a', outcome: 'unproven' }], []]);
  });

  it('goes to the same node again after a second, if there is no other', async () => {
    const { rig, jobId, attempt } = await sentToHolder();
    await rig.service.undeliverable(attempt, 'no_connection');
    rig.onDelivery('node-a', () => ({ kind: 'written' }));
    await rig.clock.advance(900);
    expect(rig.sent).toEqual([]);
    await rig.clock.advance(500);
    expect(rig.last(jobId)).toMatchObject({ nodeId: 'node-a', attempt: 2 });
  });

  it('fails after the pending timeout if no node can take it', async () => {
    const { rig, jobId, attempt } = await sentToHolder();
    rig.fleet.remove('node-a');
    await rig.service.undeliverable(attempt, 'no_connection');
    await rig.clock.advance(SETTINGS.pendingTimeoutMs + 100);
    expect((await rig.store.get(jobId))?.failure).toMatchObject({
      code: 'NODE_UNAVAILABLE',
      message: 'the job could not be handed to the node: no_connection',
    });
  });

  it('I2 no leak: frees the slot of an attempt that was abandoned before', async () => {
    const { rig, jobId, attempt } = await sentToHolder();
    await rig.addNode('node-b');
    await rig.clock.advance(SETTINGS.ackTimeoutMs + 100);
    expect(await rig.used('node-a')).toBe(1);
    expect((await rig.service.undeliverable(attempt, 'expired')).kind).toBe('ignored');
    expect(await rig.used('node-a')).toBe(0);
    expect(rig.last(jobId)).toMatchObject({ nodeId: 'node-b', attempt: 2 });
  });

  it('I4 fencing: stays with a node that acknowledged it', async () => {
    const { rig, jobId, attempt } = await sentToHolder();
    await rig.service.acknowledge(attempt);
    expect((await rig.service.undeliverable(attempt, 'expired')).kind).toBe('ignored');
    expect([await rig.state(jobId), await rig.used('node-a')]).toEqual(['RUNNING', 1]);
  });
});
