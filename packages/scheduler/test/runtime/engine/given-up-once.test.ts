/** No attempt is given up for the sake of the one before, nor for having been looked for, however long things take to be written. */
import { describe, expect, it } from 'vitest';
import { createFaultyRig } from './faulty-rig.ts';
import { writeDispatched } from './holder.ts';
import { createRig, deployedProfile, RESULT, SETTINGS } from './rig.ts';

const SILENT = { kind: 'unknown', reason: 'holder_silent' } as const;
const FAILURE = { code: 'PROCESSING_ERROR', message: 'boom' };

describe('while it is being written that an attempt was given up', () => {
  it('its successor may have the job, and keeps it', async () => {
    const { rig, store } = createFaultyRig();
    await rig.addNode('node-a');
    const { jobId } = await rig.dispatch();
    const first = rig.last(jobId);
    store.plan({ method: 'move', at: [store.calls('move') + 1], fault: { delayMs: 1_000 } });
    // Silent for too long; heard after all; lost.
    await rig.clock.advance(SETTINGS.ackTimeoutMs + 100);
    expect((await rig.service.acknowledge(first)).kind).toBe('accepted');
    await rig.addNode('node-b');
    rig.service.nodeLeft('node-a', 0);
    await rig.clock.advance(100);
    const second = rig.last(jobId);
    expect([second.nodeId, await rig.state(jobId)]).toEqual(['node-b', 'DISPATCHED']);
    await rig.addNode('node-c');
    await rig.clock.advance(1_000);
    expect([rig.last(jobId), await rig.state(jobId)]).toEqual([second, 'DISPATCHED']);
    expect(rig.cancelled.filter(({ nodeId }) => nodeId === 'node-b')).toEqual([]);
  });
});

describe('a retry that nobody said had arrived', () => {
  it('is no longer looked for when it turns out to have, nor ended like one that found nobody', async () => {
    const rig = createRig();
    await rig.addNode('node-a');
    const { jobId } = await rig.dispatch();
    await rig.addNode('node-b', 1, deployedProfile());
    rig.onDelivery('node-b', async (assignment) => {
      await writeDispatched(rig.store, rig.clock, assignment);
      return SILENT;
    });
    await rig.service.fail(rig.last(jobId), FAILURE);
    expect([await rig.state(jobId), rig.service.waiting()]).toEqual(['DISPATCHED', 0]);
    await rig.clock.advance(2 * SETTINGS.pendingTimeoutMs);
    expect((await rig.service.finish({ nodeId: 'node-b', jobId, attempt: 2 }, RESULT)).kind).toBe('accepted');
  });
});
