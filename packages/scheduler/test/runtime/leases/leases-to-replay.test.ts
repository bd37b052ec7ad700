/** Which leases an instance writes again after a failover, and for how long: those of attempts that may have reached their node. */
import { describe, expect, it } from 'vitest';
import { createFaultyRig } from '../rigs/faulty-rig.ts';
import { COMMITTED_MS } from '../rigs/rig.ts';
import { createInstances } from '../rigs/two-instances.ts';

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
  return { ...made, jobId, left: (attempt = 1) => rig.leaseToReplay(jobId, attempt)?.leftMs };
}

describe('I1 no oversell: the leases to replay', () => {
  it('a sent attempt is replayed with the rest of its committed length', async () => {
    const { rig, left } = await dispatched();
    expect(left()).toBe(COMMITTED_MS - 1);
    await rig.clock.advance(2_000);
    expect(left()).toBe(COMMITTED_MS - 2_001);
  });

  it('no lease is replayed before the reserve is answered', async () => {
    const { rig, jobId, left } = await dispatched({ holdReserve: true });
    const record = await rig.store.get(jobId);
    expect([record?.intent, left()]).toEqual([{ nodeId: 'node-a', attempt: 1 }, 0]);
    await rig.clock.advance(SLOW_MS);
    expect([rig.sent.length, left()]).toEqual([1, COMMITTED_MS - 1]);
  });

  it('no lease is replayed for an intent of the former driver', async () => {
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
    expect(first.leaseToReplay(jobId, 1)?.leftMs).toBeGreaterThan(0);
    expect(second.leaseToReplay(jobId, 1)?.leftMs).toBe(0);
  });

  it('after an undeliverable attempt the previous lease is replayed', async () => {
    const { rig } = createFaultyRig();
    await rig.addNode('node-a');
    rig.onDelivery('node-a', () => ({ kind: 'unknown', reason: 'holder_silent' }));
    rig.onDelivery('node-b', () => ({ kind: 'undeliverable', reason: 'no_socket' }));
    void rig.service.dispatch(rig.request({ waitMs: 5_000 }));
    await rig.clock.advance(SLOW_MS);
    const [job] = (await rig.store.list({ limit: 1 })).jobs;
    await rig.addNode('node-b');
    await rig.clock.advance(SLOW_MS);
    const left = (attempt: number) => rig.leaseToReplay(job?.jobId ?? '', attempt)?.leftMs;
    expect([left(1), left(2)]).toEqual([COMMITTED_MS - 2 * SLOW_MS, undefined]);
  });

  it('no lease is replayed for unsent attempts and unknown jobs', async () => {
    const { rig, left } = await dispatched();
    expect([left(2), rig.leaseToReplay('job-unknown', 1)]).toEqual([undefined, undefined]);
  });
});
