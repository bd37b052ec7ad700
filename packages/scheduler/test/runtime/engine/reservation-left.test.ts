/**
 * What is left of a reservation, for a store that may have lost it. Neither one that ended while its driver stood still nor one that was
 * only asked for is to come back.
 */
import { describe, expect, it } from 'vitest';
import { createFaultyRig } from './faulty-rig.ts';
import { createInstances } from './instances.ts';
import { SETTINGS } from './rig.ts';

const TTL_MS = SETTINGS.reservationTtlMs;
const SLOW_MS = 100;

async function dispatched({ holdReserve = false }: { holdReserve?: boolean } = {}) {
  const made = createFaultyRig();
  const { rig, ledger } = made;
  await rig.addNode('node-a');
  if (holdReserve) ledger.plan({ method: 'reserve', fault: { answerDelayMs: SLOW_MS } });
  void rig.service.dispatch(rig.request());
  await rig.clock.advance(1);
  const [job] = (await rig.store.list({ limit: 1 })).jobs;
  const jobId = job?.jobId ?? '';
  return { ...made, jobId, left: (attempt = 1) => rig.service.reservationLeftMs(jobId, attempt) };
}

describe('I1 no oversell: a reservation', () => {
  it('has what it has not used up, and in the end nothing', async () => {
    const { rig, left } = await dispatched();
    expect(left()).toBe(TTL_MS - 1);
    await rig.clock.advance(TTL_MS - 2);
    expect(left()).toBe(1);
    await rig.clock.advance(TTL_MS);
    expect(left()).toBe(0);
  });

  it('is none while it is only asked for, though the record names its node', async () => {
    const { rig, jobId, left } = await dispatched({ holdReserve: true });
    const record = await rig.store.get(jobId);
    expect([record?.intent, left()]).toEqual([{ nodeId: 'node-a', attempt: 1 }, 0]);
    await rig.clock.advance(SLOW_MS);
    // It counts from when it was asked for.
    expect([rig.sent.length, left()]).toEqual([1, TTL_MS - SLOW_MS - 1]);
  });

  it('is none of an intent that was taken over: whoever meant it may have been refused', async () => {
    const instances = createInstances({
      wrapFirst: (store) => ({ ...store, move: () => new Promise(() => {}) }),
    });
    const { first, second } = instances;
    await instances.addNode('node-a');
    void first.service.dispatch(first.request());
    await first.clock.advance(1);
    const { jobId } = first.sent[0]?.job ?? { jobId: '' };
    const { state, intent } = await instances.takeOver(jobId);
    expect([state, intent?.nodeId, second.service.drives(jobId)]).toEqual(['RESERVED', 'node-a', true]);
    expect(first.service.reservationLeftMs(jobId, 1)).toBe(TTL_MS - 1);
    expect(second.service.reservationLeftMs(jobId, 1)).toBe(0);
  });

  it('begins anew when it was renewed before its job was sent', async () => {
    const { rig, store } = createFaultyRig();
    await rig.addNode('node-a');
    const slowMs = TTL_MS - 1;
    store.plan({ method: 'admit', fault: { delayMs: slowMs } });
    void rig.service.dispatch(rig.request());
    await rig.clock.advance(slowMs);
    const [job] = (await rig.store.list({ limit: 1 })).jobs;
    expect([rig.sent.length, rig.service.reservationLeftMs(job?.jobId ?? '', 1)]).toEqual([1, TTL_MS]);
  });

  it('is that of the attempt before if the next one did not happen', async () => {
    const { rig } = createFaultyRig();
    await rig.addNode('node-a');
    rig.onDelivery('node-a', () => ({ kind: 'unknown', reason: 'holder_silent' }));
    rig.onDelivery('node-b', () => ({ kind: 'undeliverable', reason: 'no_socket' }));
    void rig.service.dispatch(rig.request({ waitMs: TTL_MS }));
    await rig.clock.advance(SLOW_MS);
    const [job] = (await rig.store.list({ limit: 1 })).jobs;
    await rig.addNode('node-b');
    await rig.clock.advance(SLOW_MS);
    const left = (attempt: number) => rig.service.reservationLeftMs(job?.jobId ?? '', attempt);
    expect([left(1), left(2)]).toEqual([TTL_MS - 2 * SLOW_MS, 0]);
  });

  it('has nothing for an attempt that is not made, or for a job that is not in flight', async () => {
    const { rig, left } = await dispatched();
    expect([left(2), rig.service.reservationLeftMs('job-unknown', 1)]).toEqual([0, 0]);
  });
});
