/** Waiting for a slot: which job waits, which is woken, and how the wait ends. */
import { describe, expect, it } from 'vitest';
import { equalTenancy } from '../../../src/domain/tenancy.ts';
import { createRig, need, profile, RESULT } from '../rigs/rig.ts';

describe('waiting for a slot', () => {
  it('a freed slot goes to the waiting job at once', async () => {
    const rig = createRig();
    await rig.addNode('node-a');
    const first = await rig.dispatch();
    const waiting = rig.service.dispatch(rig.request({ waitMs: 5_000 }));
    await rig.clock.advance(1_000);
    expect(rig.service.waiting()).toBe(1);
    await rig.service.finish(rig.last(first.jobId), RESULT);
    const outcome = await waiting;
    expect(outcome.kind).toBe('dispatched');
    expect(rig.service.waiting()).toBe(0);
  });

  it('takes a slot freed while the store was being read', async () => {
    const rig = createRig({
      wrapStore: (store, clock) => ({
        ...store,
        async admit(job) {
          await new Promise<void>((resolve) => clock.after(job.spec.utteranceIndex === 7 ? 100 : 0, resolve));
          return store.admit(job);
        },
      }),
    });
    await rig.addNode('node-a');
    const dispatching = rig.dispatch();
    await rig.clock.advance(1);
    const first = await dispatching;
    const waiting = rig.service.dispatch(
      rig.request({ waitMs: 5_000, spec: { ...rig.request().spec, utteranceIndex: 7 } }),
    );
    await rig.clock.advance(50);
    await rig.service.finish(rig.last(first.jobId), RESULT);
    await rig.clock.advance(60);
    expect(await Promise.race([waiting, Promise.resolve('still waiting')])).toMatchObject({
      kind: 'dispatched',
    });
  });

  it('refuses at the end of wait_ms and leaves nothing behind', async () => {
    const rig = createRig();
    await rig.addNode('node-a');
    const running = await rig.dispatch();
    await rig.service.acknowledge(rig.last(running.jobId));
    const waiting = rig.service.dispatch(
      rig.request({ waitMs: 5_000, requestId: 'req-1', fingerprint: 'f' }),
    );
    await rig.clock.advance(5_050);
    expect(rig.refusal(await waiting).code).toBe('ALL_CANDIDATES_FULL_OR_FAILED');
    expect(await rig.store.bound('default', 'req-1')).toBeUndefined();
    expect(rig.service.inFlight()).toBe(1);
    expect(rig.service.waiting()).toBe(0);
  });

  it('takes a node that registers while the job waits', async () => {
    const rig = createRig();
    await rig.addNode('node-a');
    await rig.dispatch();
    const waiting = rig.service.dispatch(rig.request({ waitMs: 5_000 }));
    await rig.clock.advance(100);
    await rig.addNode('node-b');
    expect(await waiting).toMatchObject({ kind: 'dispatched', job: { fence: { nodeId: 'node-b' } } });
  });

  it('waits during the fleet warm-up for nodes to reconnect', async () => {
    const rig = createRig({ settings: { fleetWarmupMs: 10_000 } });
    expect(rig.refusal(await rig.service.dispatch(rig.request({ waitMs: 0 }))).code).toBe('NO_CAPABLE_NODE');
    const waiting = rig.service.dispatch(rig.request({ waitMs: 5_000 }));
    const inVain = rig.service.dispatch(rig.request({ waitMs: 1_000 }));
    await rig.clock.advance(2_000);
    expect(rig.refusal(await inVain).code).toBe('NO_CAPABLE_NODE');
    await rig.addNode('node-a');
    expect(await waiting).toMatchObject({ kind: 'dispatched', job: { fence: { nodeId: 'node-a' } } });
  });

  it('does not wait for a capable node after the fleet warm-up', async () => {
    const rig = createRig({ settings: { fleetWarmupMs: 10_000 } });
    await rig.clock.advance(10_000);
    const outcome = await rig.service.dispatch(rig.request({ waitMs: 5_000 }));
    expect(rig.refusal(outcome).code).toBe('NO_CAPABLE_NODE');
  });

  it('wakes a waiter that fits, not the first one', async () => {
    const rig = createRig();
    await rig.addNode('node-en');
    await rig.addNode(
      'node-fr',
      1,
      profile({ semantic: ['fr'], nmt: { ...profile().nmt, sources: ['fr'] } }),
    );
    const french = need({ directions: [{ source: 'fr', target: 'zh' }] });
    await rig.dispatch();
    const busy = await rig.dispatch({ need: french });
    const english = rig.service.dispatch(rig.request({ waitMs: 5_000 }));
    const second = rig.service.dispatch(rig.request({ need: french, waitMs: 5_000 }));
    await rig.clock.advance(10);
    await rig.service.finish(rig.last(busy.jobId), RESULT);
    expect((await second).kind).toBe('dispatched');
    await rig.clock.advance(5_050);
    expect((await english).kind).toBe('refused');
  });

  it('serves retries ahead of new jobs', async () => {
    const rig = createRig();
    await rig.addNode('node-a');
    const first = await rig.dispatch();
    const fresh = rig.service.dispatch(rig.request({ waitMs: 20_000 }));
    await rig.clock.advance(10);
    await rig.service.fail(rig.last(first.jobId), { code: 'PROCESSING_ERROR', message: 'x' });
    // node-a is excluded for the first job, so the waiting job gets it; then both need node-b.
    expect((await fresh).kind).toBe('dispatched');
    const third = rig.service.dispatch(rig.request({ waitMs: 20_000 }));
    await rig.clock.advance(10);
    await rig.addNode('node-b');
    await rig.clock.advance(10);
    expect(rig.last(first.jobId)).toMatchObject({ nodeId: 'node-b', attempt: 2 });
    expect(rig.service.waiting()).toBe(1);
    await rig.clock.advance(20_050);
    await third;
  });

  it('serves tenants in turn', async () => {
    const rig = createRig();
    await rig.addNode('node-a');
    let running = await rig.dispatch();
    const order: string[] = [];
    const wait = (tenantId: string) =>
      Promise.resolve(rig.service.dispatch(rig.request({ tenantId, waitMs: 60_000 }))).then((outcome) => {
        if (outcome.kind === 'dispatched') running = outcome.job;
        order.push(tenantId);
      });
    const all = [wait('flood'), wait('flood'), wait('flood'), wait('quiet')];
    await rig.clock.advance(10);
    for (let i = 0; i < all.length; i++) {
      await rig.service.finish(rig.last(running.jobId), RESULT);
      await rig.clock.advance(10);
    }
    await Promise.all(all);
    expect(order.indexOf('quiet')).toBeLessThanOrEqual(1);
  });

  it('I11 bounded: refuses above the waiting limits', async () => {
    const rig = createRig({ settings: { maxWaiting: 3 }, tenancy: equalTenancy({ maxWaiting: 2 }) });
    await rig.addNode('node-a');
    await rig.dispatch();
    const waits = ['t1', 't1', 't2'].map((tenantId) =>
      rig.service.dispatch(rig.request({ tenantId, waitMs: 1_000 })),
    );
    await rig.clock.advance(1);
    const over = await rig.service.dispatch(rig.request({ tenantId: 't1', waitMs: 1_000 }));
    expect(rig.refusal(over)).toMatchObject({
      code: 'RATE_LIMITED',
      message: expect.stringMatching(/tenant t1 has 2 jobs waiting.*max_waiting_per_tenant/),
    });
    expect((await rig.service.dispatch(rig.request({ tenantId: 't3', waitMs: 1_000 }))).kind).toBe('refused');
    await rig.clock.advance(1_050);
    for (const wait of waits) expect((await wait).kind).toBe('refused');
    expect(rig.service.inFlight()).toBe(1);
  });

  it('a waiting job can be cancelled', async () => {
    const rig = createRig();
    await rig.addNode('node-a');
    await rig.dispatch();
    const waiting = rig.service.dispatch(
      rig.request({ waitMs: 5_000, requestId: 'req-9', fingerprint: 'f' }),
    );
    await rig.clock.advance(10);
    const bound = await rig.store.bound('default', 'req-9');
    expect(await rig.service.cancel(bound?.jobId ?? '', 'changed my mind')).toEqual({ kind: 'cancelled' });
    expect(rig.refusal(await waiting).code).toBe('JOB_CANCELLED');
  });
});
