/** Reservations that grew old before they were used, as those of a process that slept do. */
import { describe, expect, it } from 'vitest';
import type { Fault } from '../../support/faulty.ts';
import { createFaultyRig } from './faulty-rig.ts';

/** Between the reserve and the send: longer than a reservation may be kept before its job leaves. */
const LONG_MS = 2_500;

describe('I1 no oversell: an old reservation', () => {
  it('is renewed before its job leaves, so that it outlives the wait for the acknowledgement', async () => {
    const { rig, store, ledger } = createFaultyRig();
    await rig.addNode('node-a');
    store.plan({ method: 'admit', fault: { delayMs: LONG_MS } });
    const first = rig.service.dispatch(rig.request());
    await rig.clock.advance(LONG_MS + 10);
    expect(await first).toMatchObject({ kind: 'dispatched' });
    expect(ledger.calls('commit')).toBe(1);
    // Past the end of the first reservation, before the end of the patience with the node.
    await rig.clock.advance(2_800);
    expect(await rig.used('node-a')).toBe(1);
  });

  it('is not used if the slot is another’s by now: the job goes elsewhere', async () => {
    const { rig, store, ledger } = createFaultyRig();
    await rig.addNode('node-a');
    store.plan({ method: 'admit', at: [1], fault: { delayMs: 5_500 } });
    const first = rig.service.dispatch(rig.request());
    await rig.clock.advance(5_100);
    await ledger.port.reserve('node-a', 'job-other:1', 60_000);
    await rig.addNode('node-b');
    await rig.clock.advance(500);
    expect(await first).toMatchObject({ kind: 'dispatched', job: { fence: { nodeId: 'node-b' } } });
    expect(rig.sent.filter(({ nodeId }) => nodeId === 'node-a')).toEqual([]);
  });

  it('is renewed as well for a job that is tried elsewhere, and whose move there was written slowly', async () => {
    const { rig, store, ledger } = createFaultyRig();
    await rig.addNode('node-a');
    const { jobId } = await rig.dispatch();
    await rig.addNode('node-b');
    // Given up, then reserved.
    store.plan({ method: 'move', at: [store.calls('move') + 2], fault: { delayMs: LONG_MS } });
    void rig.service.fail(rig.last(jobId), { code: 'PROCESSING_ERROR', message: 'x' });
    await rig.clock.advance(LONG_MS + 100);
    expect(rig.last(jobId)).toMatchObject({ nodeId: 'node-b', attempt: 2 });
    expect(ledger.calls('commit')).toBe(1);
  });

  describe('that is being renewed', () => {
    /** Its renewal has just been asked for. */
    const renewing = async (fault: Fault) => {
      const made = createFaultyRig();
      await made.rig.addNode('node-a');
      made.store.plan({ method: 'admit', fault: { delayMs: LONG_MS } });
      made.ledger.plan({ method: 'commit', at: [1], fault });
      const dispatching = made.rig.service.dispatch(made.rig.request());
      await made.rig.clock.advance(LONG_MS - 10);
      await made.rig.addNode('node-b');
      await made.rig.clock.advance(20);
      const [job] = (await made.rig.store.list({ limit: 1 })).jobs;
      return { ...made, dispatching, jobId: job?.jobId ?? '' };
    };

    it.each([
      ['nobody answers', 'throw_after_effect', 100],
      ['it grows old again', { answerDelayMs: LONG_MS }, LONG_MS],
    ] as const)('is given back if %s, and the job goes elsewhere', async (_, fault, tookMs) => {
      const { rig, dispatching } = await renewing(fault);
      await rig.clock.advance(tookMs);
      expect(await dispatching).toMatchObject({ kind: 'dispatched', job: { fence: { nodeId: 'node-b' } } });
      expect(rig.sent.map(({ nodeId }) => nodeId)).toEqual(['node-b']);
      expect(await rig.used('node-a')).toBe(0);
    });

    it('is given back, and nothing is sent, if the job is cancelled meanwhile', async () => {
      const { rig, dispatching, jobId } = await renewing({ answerDelayMs: 500 });
      expect((await rig.service.cancel(jobId, 'stop')).kind).toBe('cancelled');
      await rig.clock.advance(500);
      await dispatching;
      expect([rig.sent, await rig.used('node-a')]).toEqual([[], 0]);
    });

    it('is left alone, and nothing is sent, if others drive the job by then', async () => {
      const { rig, dispatching } = await renewing({ answerDelayMs: 500 });
      rig.service.abandonAll();
      await rig.clock.advance(500);
      await dispatching;
      expect([rig.sent, await rig.used('node-a')]).toEqual([[], 1]);
    });
  });

  it('costs nothing while it is young', async () => {
    const { rig, ledger } = createFaultyRig();
    await rig.addNode('node-a');
    await rig.dispatch();
    expect(ledger.calls('commit')).toBe(0);
  });
});
