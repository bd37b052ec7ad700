/** What is left of a reservation, for a store that may have lost it: one that ended while its driver stood still is not to come back. */
import { describe, expect, it } from 'vitest';
import { createFaultyRig } from './faulty-rig.ts';
import { SETTINGS } from './rig.ts';

/** Between the reserve and the send: longer than a reservation may be kept before its job leaves. */
const LONG_MS = 2_500;
const first = { nodeId: 'node-a', attempt: 1 };

/** Admitted so slowly that its reservation is renewed first. */
async function admittedSlowly(renewalMs: number) {
  const made = createFaultyRig();
  const { rig, store, ledger } = made;
  await rig.addNode('node-a');
  store.plan({ method: 'admit', fault: { delayMs: LONG_MS } });
  ledger.plan({ method: 'commit', fault: { answerDelayMs: renewalMs } });
  void rig.service.dispatch(rig.request());
  await rig.clock.advance(LONG_MS);
  const [job] = (await rig.store.list({ limit: 1 })).jobs;
  return { ...made, left: () => rig.service.reservationLeftMs(job?.jobId ?? '', first) };
}

describe('I1 no oversell: a reservation', () => {
  it('has what it has not used up, and in the end nothing', async () => {
    const { rig, left } = await admittedSlowly(60_000);
    expect([rig.sent, left()]).toEqual([[], SETTINGS.reservationTtlMs - LONG_MS]);
    await rig.clock.advance(SETTINGS.reservationTtlMs - LONG_MS - 1);
    expect(left()).toBe(1);
    await rig.clock.advance(1);
    expect(left()).toBe(0);
    await rig.clock.advance(SETTINGS.reservationTtlMs);
    expect(left()).toBe(0);
  });

  it('begins anew when it was renewed and its job is sent', async () => {
    const { rig, left } = await admittedSlowly(100);
    await rig.clock.advance(100);
    expect([rig.sent.length, left()]).toEqual([1, SETTINGS.reservationTtlMs]);
  });

  it('begins when it is asked for, however late its driver comes to write that', async () => {
    const { rig, ledger } = createFaultyRig();
    await rig.addNode('node-a');
    const { jobId } = await rig.dispatch();
    await rig.addNode('node-b');
    const sentAt = rig.clock.now();
    ledger.plan(
      { method: 'reserve', fault: { answerDelayMs: LONG_MS } },
      { method: 'commit', fault: { answerDelayMs: 60_000 } },
    );
    void rig.service.fail(rig.last(jobId), { code: 'PROCESSING_ERROR', message: 'x' });
    await rig.clock.advance(LONG_MS);
    expect((await rig.store.get(jobId))?.timeline.at(-1)).toMatchObject({ state: 'RESERVED', at: sentAt });
    const left = rig.service.reservationLeftMs(jobId, { nodeId: 'node-b', attempt: 2 });
    expect(left).toBe(SETTINGS.reservationTtlMs - LONG_MS);
  });

  it('has nothing on a node that is not meant, for an attempt that is not made, or for a job that is not in flight', async () => {
    const { rig } = createFaultyRig();
    await rig.addNode('node-a');
    const { jobId } = await rig.dispatch();
    const { reservationLeftMs } = rig.service;
    expect(reservationLeftMs(jobId, first)).toBe(SETTINGS.reservationTtlMs);
    expect(reservationLeftMs(jobId, { ...first, nodeId: 'node-b' })).toBe(0);
    expect(reservationLeftMs(jobId, { ...first, attempt: 2 })).toBe(0);
    expect(reservationLeftMs('job-unknown', first)).toBe(0);
  });
});
