/** Which waiters are woken when slots become free: as many as can be served, without a pause in between. */
import { describe, expect, it } from 'vitest';
import { holdDelivery } from '../rigs/hold-delivery.ts';
import { createRig, need, profile, RESULT } from '../rigs/rig.ts';

const FAILURE = { code: 'PROCESSING_ERROR', message: 'boom' };
/** After this many deliveries the node stops answering: an engine that spins would block the test. */
const SPINNING = 5_000;

const french = need({ directions: [{ source: 'fr', target: 'zh' }] });
const frenchProfile = () => profile({ semantic: ['fr'], nmt: { ...profile().nmt, sources: ['fr'] } });

describe('waking waiters', () => {
  for (const kind of ['undeliverable', 'overloaded'] as const) {
    for (const { waiters, slots } of [
      { waiters: 2, slots: 1 },
      { waiters: 3, slots: 1 },
      { waiters: 2, slots: 2 },
      { waiters: 4, slots: 2 },
      { waiters: 8, slots: 4 },
    ]) {
      it(`does not spin: ${waiters} wait for ${slots} slots of a node that is ${kind}`, async () => {
        const rig = createRig();
        await rig.addNode('node-a', slots);
        let posts = 0;
        rig.onDelivery('node-a', () => {
          posts += 1;
          return posts > SPINNING ? new Promise(() => {}) : { kind, reason: 'no_connection' };
        });
        const waits = Array.from({ length: waiters }, () =>
          rig.service.dispatch(rig.request({ waitMs: 1_000 })),
        );
        await rig.clock.advance(0);
        expect(posts).toBeLessThanOrEqual(waiters);
        await rig.clock.advance(900);
        expect(posts).toBeLessThanOrEqual(4 * waiters);
        await rig.clock.advance(2_000);
        for (const wait of waits) expect((await wait).kind).toBe('refused');
        expect(rig.service.inFlight()).toBe(0);
        expect(await rig.used('node-a')).toBe(0);
      });
    }
  }

  it('serves a waiter from a node that is reachable again', async () => {
    const rig = createRig();
    await rig.addNode('node-a');
    rig.onDelivery('node-a', () => ({ kind: 'undeliverable', reason: 'no_connection' }));
    const waiting = rig.service.dispatch(rig.request({ waitMs: 10_000 }));
    await rig.clock.advance(100);
    rig.onDelivery('node-a', () => ({ kind: 'written' }));
    await rig.clock.advance(3_000);
    expect(rig.service.waiting()).toBe(0);
    expect((await waiting).kind).toBe('dispatched');
  });

  it('serves as many waiters as a new node has slots', async () => {
    const rig = createRig();
    await rig.addNode('node-a', 1);
    await rig.dispatch();
    const waits = Array.from({ length: 9 }, () => rig.service.dispatch(rig.request({ waitMs: 1_000 })));
    await rig.clock.advance(10);
    await rig.addNode('node-b', 8);
    await rig.clock.advance(0);
    expect(rig.sent.filter(({ nodeId }) => nodeId === 'node-b')).toHaveLength(8);
    await rig.clock.advance(1_100);
    const kinds = (await Promise.all(waits)).map(({ kind }) => kind);
    expect(kinds.filter((kind) => kind === 'dispatched')).toHaveLength(8);
  });

  it('finds the 33rd waiter when the first 32 need another language', async () => {
    const rig = createRig();
    await rig.addNode('node-en', 1);
    await rig.addNode('node-fr', 1, frenchProfile());
    const busyFrench = await rig.dispatch({ need: french });
    await rig.service.acknowledge(rig.last(busyFrench.jobId));
    const busyEnglish = await rig.dispatch();
    const ahead = Array.from({ length: 32 }, () =>
      rig.service.dispatch(rig.request({ need: french, waitMs: 9_000 })),
    );
    const english = rig.service.dispatch(rig.request({ waitMs: 9_000 }));
    await rig.clock.advance(10);
    await rig.service.finish(rig.last(busyEnglish.jobId), RESULT);
    expect(await rig.used('node-en')).toBe(1);
    await rig.clock.advance(9_100);
    for (const wait of ahead) expect((await wait).kind).toBe('refused');
    expect((await english).kind).toBe('dispatched');
  });

  it('gives a slot that a strict job cannot use to another', async () => {
    const rig = createRig();
    await rig.addNode('node-p');
    await rig.addNode('node-a');
    const strict = await rig.dispatch({ need: need({ preferredNodeId: 'node-p', isStrict: true }) });
    const busy = await rig.dispatch();
    // It requires node-p, which failed it: it waits for nothing, ahead of new jobs.
    await rig.service.fail(rig.last(strict.jobId), FAILURE);
    const fills = await rig.dispatch();
    expect([busy.fence?.nodeId, fills.fence?.nodeId]).toEqual(['node-a', 'node-p']);
    const waiting = rig.service.dispatch(rig.request({ waitMs: 5_000 }));
    await rig.clock.advance(1);
    await rig.service.finish(rig.last(busy.jobId), RESULT);
    await rig.clock.advance(100);
    expect(rig.sent.filter(({ nodeId }) => nodeId === 'node-a')).toHaveLength(2);
    expect(await waiting).toMatchObject({ kind: 'dispatched', job: { fence: { nodeId: 'node-a' } } });
  });

  it('a drain ends when the last waiter is refused', async () => {
    const rig = createRig();
    await rig.addNode('node-a');
    const job = await rig.dispatch();
    const waiting = rig.service.dispatch(rig.request({ waitMs: 2_000 }));
    await rig.clock.advance(10);
    await rig.service.acknowledge(rig.last(job.jobId));
    rig.fleet.remove('node-a');
    await rig.service.finish(rig.last(job.jobId), RESULT);
    const left: number[] = [];
    void rig.service.drain(60_000).then((count) => left.push(count));
    await rig.clock.advance(1_000);
    expect(left).toEqual([]);
    await rig.clock.advance(2_000);
    expect((await waiting).kind).toBe('refused');
    expect(rig.service.inFlight()).toBe(0);
    expect(left).toEqual([0]);
  });

  it('a wait that ends during a successful delivery does not refuse', async () => {
    const rig = createRig();
    await rig.addNode('node-a');
    const job = await rig.dispatch();
    const waiting = rig.service.dispatch(rig.request({ waitMs: 1_000 }));
    await rig.clock.advance(900);
    const endDelivery = holdDelivery(rig, 'node-a');
    await rig.service.finish(rig.last(job.jobId), RESULT);
    await rig.clock.advance(300);
    endDelivery();
    await rig.clock.advance(10);
    expect(await waiting).toMatchObject({ kind: 'dispatched', job: { fence: { nodeId: 'node-a' } } });
  });

  it('a wait that ends during a failed delivery refuses', async () => {
    const rig = createRig();
    await rig.addNode('node-a');
    const job = await rig.dispatch();
    const waiting = rig.service.dispatch(rig.request({ waitMs: 1_000 }));
    await rig.clock.advance(900);
    rig.onDelivery('node-a', async () => {
      await new Promise<void>((resolve) => rig.clock.after(300, resolve));
      return { kind: 'overloaded', reason: 'full' };
    });
    await rig.service.finish(rig.last(job.jobId), RESULT);
    await rig.clock.advance(400);
    expect((await waiting).kind).toBe('refused');
    expect(rig.service.inFlight()).toBe(0);
    expect(await rig.used('node-a')).toBe(0);
  });
});
