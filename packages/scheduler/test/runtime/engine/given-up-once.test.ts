/** No attempt is given up for the sake of the one before, nor for having been looked for, however long things take to be written. */
import { describe, expect, it } from 'vitest';
import type { ReportedAttempt } from '../../../src/domain/node-report.ts';
import { createFaultyRig } from './faulty-rig.ts';
import { writeDispatched } from './holder.ts';
import { createRig, deployedProfile, RESULT, type Rig, SETTINGS } from './rig.ts';

const SILENT = { kind: 'unknown', reason: 'holder_silent' } as const;
const UNTRANSLATED = { ...RESULT, textTranslated: '' };
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

  it('is not given up again, nor is anything said of its node, when that is lost', async () => {
    const { rig, store } = createFaultyRig();
    await rig.addNode('node-a');
    const { jobId } = await rig.dispatch();
    store.plan({ method: 'move', at: [store.calls('move') + 1], fault: { delayMs: 1_000 } });
    await rig.clock.advance(SETTINGS.ackTimeoutMs + 100);
    rig.service.nodeLeft('node-a', 0);
    await rig.clock.advance(1_000);
    expect(await rig.state(jobId)).toBe('RETRYING');
    expect(rig.outcomes).toEqual([{ nodeId: 'node-a', outcome: 'failed' }]);
  });

  it.each([
    ['fails', (rig: Rig, answer: ReportedAttempt) => rig.service.fail(answer, FAILURE)],
    ['has no translation', (rig: Rig, answer: ReportedAttempt) => rig.service.finish(answer, UNTRANSLATED)],
  ])('its node may say its last word, that it %s: its slot is free', async (_, speaks) => {
    const { rig, store } = createFaultyRig();
    await rig.addNode('node-a');
    const { jobId } = await rig.dispatch();
    const first = rig.last(jobId);
    await rig.service.acknowledge(first);
    store.plan({ method: 'move', at: [store.calls('move') + 1], fault: { delayMs: 1_000 } });
    await rig.clock.advance(SETTINGS.jobTimeoutMs + 100);
    expect(await rig.state(jobId)).toBe('RUNNING');
    await speaks(rig, first);
    expect(await rig.used('node-a')).toBe(0);
    await rig.clock.advance(1_000);
    expect([await rig.state(jobId), await rig.used('node-a')]).toEqual(['RETRYING', 0]);
    // Nothing more is to be expected of it, so that nobody is kept waiting for it.
    await rig.clock.advance(SETTINGS.pendingTimeoutMs);
    expect(await rig.state(jobId)).toBe('RELEASED');
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
