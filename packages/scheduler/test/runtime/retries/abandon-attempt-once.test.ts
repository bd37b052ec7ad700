/** An attempt is abandoned once, however long its move to RETRYING takes to be written. */
import { describe, expect, it } from 'vitest';
import type { ReportedAttempt } from '../../../src/domain/node-report.ts';
import { createFaultyRig } from '../rigs/faulty-rig.ts';
import { RESULT, type Rig, SETTINGS } from '../rigs/rig.ts';

const UNTRANSLATED = { ...RESULT, textTranslated: '' };
const FAILURE = { code: 'PROCESSING_ERROR', message: 'boom' };

describe('while RETRYING is being written', () => {
  it('a successor that got the job keeps it', async () => {
    const { rig, store } = createFaultyRig();
    await rig.addNode('node-a');
    const { jobId } = await rig.dispatch();
    const first = rig.last(jobId);
    store.plan({ method: 'move', at: [store.calls('move') + 1], fault: { delayMs: 1_000 } });
    // The node misses the timeout, acknowledges late, and is lost.
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

  it('the loss of its node neither abandons the attempt again nor counts', async () => {
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
  ])('a last report of its node (%s) frees its slot', async (_, report) => {
    const { rig, store } = createFaultyRig();
    await rig.addNode('node-a');
    await rig.addNode('node-full', 0);
    const { jobId } = await rig.dispatch();
    const first = rig.last(jobId);
    await rig.service.acknowledge(first);
    store.plan({ method: 'move', at: [store.calls('move') + 1], fault: { delayMs: 1_000 } });
    await rig.clock.advance(SETTINGS.jobTimeoutMs + 100);
    expect(await rig.state(jobId)).toBe('RUNNING');
    await report(rig, first);
    expect(await rig.used('node-a')).toBe(0);
    await rig.clock.advance(1_000);
    expect([await rig.state(jobId), await rig.used('node-a')]).toEqual(['RETRYING', 0]);
    // That node will send nothing more, so the client does not wait for it.
    await rig.clock.advance(SETTINGS.pendingTimeoutMs);
    expect(await rig.state(jobId)).toBe('RELEASED');
  });
});
