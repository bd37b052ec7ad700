/** How many jobs of a tenant may be on nodes: what happens at the cap, and that the count is exact. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { equalTenancy, shareOf, type Tenancy } from '../../../src/domain/tenancy.ts';
import { createInflightCaps } from '../../../src/runtime/queue/inflight-caps.ts';
import { holdDelivery } from '../rigs/hold-delivery.ts';
import { anyActs, playHistory } from '../rigs/random-history.ts';
import { createRig, need, profile, RESULT } from '../rigs/rig.ts';
import { createInstances } from '../rigs/two-instances.ts';

const capped = (maxInflightJobs: number): Tenancy => equalTenancy({ maxInflightJobs, maxWaiting: 50 });
const french = need({ directions: [{ source: 'fr', target: 'zh' }] });
const frenchNode = () => profile({ semantic: ['fr'], nmt: { ...profile().nmt, sources: ['fr'] } });

async function startCapped(cap: number, slots = 10) {
  const rig = createRig({ tenancy: capped(cap) });
  await rig.addNode('node-a', slots);
  const dispatch = (tenantId = 't1', more = {}) => rig.service.dispatch(rig.request({ tenantId, ...more }));
  const finish = (jobId: string) => rig.service.finish(rig.last(jobId), RESULT);
  return { rig, dispatch, finish };
}

describe('a tenant at its cap of jobs in flight', () => {
  it('is refused without waiting, and the message names the cap', async () => {
    const { rig, dispatch } = await startCapped(2);
    for (const _ of [1, 2]) expect((await dispatch()).kind).toBe('dispatched');
    const refused = rig.refusal(await dispatch('t1', { requestId: 'r', fingerprint: 'f' }));
    expect(refused.code).toBe('RATE_LIMITED');
    expect(refused.message).toMatch(/tenant t1 may have 2 jobs in flight \(max_inflight_jobs\).*wait_ms/);
    expect(rig.counts.get('scheduler_tenant_refused_total{inflight}')).toBe(1);
    expect(await rig.store.bound('t1', 'r')).toBeUndefined();
    expect(await rig.used('node-a')).toBe(2);
    expect((await dispatch('t2')).kind).toBe('dispatched');
  });

  it('waits although slots are free, until one of its jobs ends', async () => {
    const { rig, dispatch, finish } = await startCapped(1);
    const first = await rig.dispatch({ tenantId: 't1' });
    const waiting = dispatch('t1', { waitMs: 5_000 });
    await rig.clock.advance(1_000);
    expect(rig.service.waiting()).toBe(1);
    expect(await rig.used('node-a')).toBe(1);
    await finish(first.jobId);
    expect((await waiting).kind).toBe('dispatched');
  });

  it('is served by any free node, not only by its own', async () => {
    const { rig, finish } = await startCapped(1, 1);
    await rig.addNode('node-fr', 1, frenchNode());
    const first = await rig.dispatch({ tenantId: 't1' });
    const waiting = rig.service.dispatch(rig.request({ tenantId: 't1', need: french, waitMs: 5_000 }));
    await rig.clock.advance(1);
    await finish(first.jobId);
    // Without waiting for the backstop.
    await rig.clock.advance(0);
    expect(await rig.used('node-fr')).toBe(1);
    expect((await waiting).kind).toBe('dispatched');
  });

  it('is refused with the cap as reason when its wait ends', async () => {
    const { rig, dispatch } = await startCapped(1);
    const running = await rig.dispatch({ tenantId: 't1' });
    await rig.service.acknowledge(rig.last(running.jobId));
    const waiting = dispatch('t1', { waitMs: 2_000, requestId: 'r', fingerprint: 'f' });
    await rig.clock.advance(2_050);
    expect(rig.refusal(await waiting)).toMatchObject({
      code: 'RATE_LIMITED',
      message: expect.stringContaining('max_inflight_jobs'),
    });
    expect(await rig.store.bound('t1', 'r')).toBeUndefined();
    expect(rig.service.inFlight()).toBe(1);
  });

  it('repeats at the cap get their job and are not counted', async () => {
    const { rig, dispatch, finish } = await startCapped(2);
    const again = { requestId: 'r', fingerprint: 'f' };
    const job = await rig.dispatch({ tenantId: 't1', ...again });
    for (const _ of [1, 2, 3])
      expect(await dispatch('t1', again)).toMatchObject({ isRepeat: true, job: { jobId: job.jobId } });
    expect((await dispatch()).kind).toBe('dispatched');
    expect(await dispatch('t1', again)).toMatchObject({ isRepeat: true, job: { jobId: job.jobId } });
    expect((await dispatch()).kind).toBe('refused');
    await finish(job.jobId);
    expect((await dispatch()).kind).toBe('dispatched');
    expect((await dispatch()).kind).toBe('refused');
  });

  it('a repeat of a waiting job takes no quota unit', async () => {
    const { rig, dispatch } = await startCapped(1, 1);
    const other = await rig.dispatch({ tenantId: 't2' });
    const again = { requestId: 'r', fingerprint: 'f', waitMs: 5_000 };
    const both = [dispatch('t1', again), dispatch('t1', again)];
    await rig.clock.advance(10);
    await rig.addNode('node-b');
    await rig.clock.advance(10);
    for (const each of both) expect((await each).kind).toBe('dispatched');
    expect(rig.service.tenants().inflight).toBe(2);
    await rig.service.finish(rig.last(other.jobId), RESULT);
    expect((await dispatch()).kind).toBe('refused');
  });

  it('repeats of a job being sent take no quota unit', async () => {
    const { rig, dispatch } = await startCapped(2, 1);
    await rig.addNode('node-fr', 2, frenchNode());
    await rig.dispatch({ tenantId: 't2' });
    const again = { requestId: 'r', fingerprint: 'f', waitMs: 5_000 };
    const waits = [dispatch('t1', again)];
    for (const _ of [1, 2]) {
      await rig.clock.advance(10);
      waits.push(dispatch('t1', again));
    }
    await rig.clock.advance(10);
    const endDelivery = holdDelivery(rig, 'node-fr');
    const named = { need: french, requestId: 's', fingerprint: 'g' };
    const handed = [dispatch('t1', named), dispatch('t1', named), dispatch('t1', named)];
    await rig.clock.advance(10);
    const second = dispatch('t1', { need: french });
    await rig.clock.advance(10);
    endDelivery();
    for (const each of [...handed, second]) expect((await each).kind).toBe('dispatched');
    await rig.clock.advance(5_050);
    for (const each of waits) expect((await each).kind).toBe('refused');
  });

  it('a job that finds no node frees its quota unit', async () => {
    const { rig, dispatch } = await startCapped(1, 1);
    const busy = await rig.dispatch({ tenantId: 't2' });
    expect(rig.refusal(await dispatch()).code).toBe('ALL_CANDIDATES_FULL_OR_FAILED');
    expect(rig.service.tenants().inflight).toBe(1);
    await rig.addNode('node-fr', 1, frenchNode());
    const waiting = dispatch('t1', { waitMs: 5_000 });
    await rig.clock.advance(10);
    rig.onDelivery('node-a', () => ({ kind: 'overloaded', reason: 'full' }));
    await rig.service.finish(rig.last(busy.jobId), RESULT);
    await rig.clock.advance(10);
    expect((await dispatch('t1', { need: french })).kind).toBe('dispatched');
    await rig.clock.advance(5_050);
    expect(rig.refusal(await waiting).code).toBe('RATE_LIMITED');
  });

  it('a job that waits for a slot takes no quota unit', async () => {
    const { rig } = await startCapped(1, 1);
    await rig.addNode('node-fr', 1, frenchNode());
    await rig.dispatch({ tenantId: 't2' });
    const waiting = rig.service.dispatch(rig.request({ tenantId: 't1', waitMs: 5_000 }));
    await rig.clock.advance(10);
    expect((await rig.dispatch({ tenantId: 't1', need: french })).fence?.nodeId).toBe('node-fr');
    await rig.clock.advance(5_050);
    expect((await waiting).kind).toBe('refused');
  });

  it('many slots that become free do not exceed the cap', async () => {
    const { rig, dispatch } = await startCapped(2, 1);
    await rig.dispatch({ tenantId: 't2' });
    const waits = [1, 2, 3, 4, 5].map(() => dispatch('t1', { waitMs: 1_000 }));
    await rig.clock.advance(10);
    await rig.addNode('node-b', 8);
    await rig.clock.advance(500);
    expect(await rig.used('node-b')).toBe(2);
    await rig.clock.advance(1_050);
    const kinds = (await Promise.all(waits)).map(({ kind }) => kind);
    expect(kinds.filter((kind) => kind === 'dispatched')).toHaveLength(2);
  });

  it('a retried job keeps its quota unit', async () => {
    const { rig, dispatch } = await startCapped(1);
    await rig.addNode('node-b');
    const job = await rig.dispatch({ tenantId: 't1' });
    await rig.service.fail(rig.last(job.jobId), { code: 'PROCESSING_ERROR', message: 'x' });
    expect(rig.last(job.jobId).attempt).toBe(2);
    expect((await dispatch()).kind).toBe('refused');
  });

  it('a cap of 0 admits no job', async () => {
    const { dispatch } = await startCapped(0);
    expect((await dispatch()).kind).toBe('refused');
  });
});

describe('jobs taken over from a dead instance', () => {
  it('jobs taken over count against the cap until they are dropped', async () => {
    const instances = createInstances({ tenancy: capped(2) });
    await instances.addNode('node-a', 9);
    const moved = await Promise.all(
      [1, 2, 3].map(() => instances.first.service.dispatch(instances.first.request({ tenantId: 't1' }))),
    );
    const jobs = moved.flatMap((each) => (each.kind === 'dispatched' ? [each.job.jobId] : []));
    expect(jobs).toHaveLength(2);
    const { second } = instances;
    const dispatch = async () => (await second.service.dispatch(second.request({ tenantId: 't1' }))).kind;
    expect(await dispatch()).toBe('dispatched');
    for (const jobId of jobs) await instances.takeOver(jobId);
    expect(await dispatch()).toBe('refused');
    for (const jobId of jobs) await second.service.finish(instances.first.last(jobId), RESULT);
    expect([await dispatch(), await dispatch()]).toEqual(['dispatched', 'refused']);
    second.service.dropAll();
    expect(second.service.tenants().inflight).toBe(0);
    expect(await dispatch()).toBe('dispatched');
  });
});

describe('the count of jobs in flight', () => {
  it.each([
    ['at once', { maxDelayMs: 0, failRate: 0 }],
    ['slowly', { maxDelayMs: 400, failRate: 0 }],
    ['or not at all', { maxDelayMs: 100, failRate: 0.1 }],
  ])('returns to 0 after any history when ports answer %s', async (_, mode) => {
    await fc.assert(
      fc.asyncProperty(fc.nat(), anyActs, fc.integer({ min: 0, max: 3 }), async (seed, acts, cap) => {
        const { rig, faults } = await playHistory(seed, acts, { ...mode, tenancy: capped(cap) });
        expect(faults).toEqual([]);
        expect(rig.service.inFlight()).toBe(0);
        expect(rig.service.tenants()).toEqual({ inflight: 0, waiting: 0 });
      }),
      { numRuns: 40 },
    );
  });

  it('is not kept when no tenant has a cap', async () => {
    const rig = createRig();
    await rig.addNode('node-a', 2);
    await rig.dispatch();
    expect(rig.service.tenants().inflight).toBe(0);
  });

  it('I11 bounded: tenants above the limit share one count', () => {
    const caps = createInflightCaps({ tenancy: capped(2), maxTenants: 2 });
    const units = ['a', 'b', 'c', 'd'].map((tenantId) => caps.take(tenantId));
    expect(units.every((quotaUnit) => quotaUnit !== undefined)).toBe(true);
    expect(caps.tenants()).toBe(2);
    expect(caps.take('e')).toBeUndefined();
    expect(caps.take('a')).toBeDefined();
    // A unit of the shared count returns to it, even if the tenant has its own count by then.
    const [a, b, c] = units;
    if (a !== undefined && b !== undefined && c !== undefined) {
      caps.release(b);
      const own = caps.take('c');
      caps.release(c);
      expect(own && caps.takeAnyway('c').count).toBe(2);
    }
    expect(caps.quotaUnits()).toBe(5);
  });
});

describe('the share of an instance', () => {
  it('is its part of the limit, rounded up', () => {
    expect([1, 2, 3, 4, 20].map((instances) => shareOf(10, instances))).toEqual([10, 5, 4, 3, 1]);
    expect(shareOf(0, 3)).toBe(0);
    expect(shareOf(Number.POSITIVE_INFINITY, 3)).toBe(Number.POSITIVE_INFINITY);
    // A membership read that found no instance, not even this one.
    expect(shareOf(10, 0)).toBe(10);
  });

  it('changes as soon as instances start or stop', async () => {
    let instances = 2;
    const tenancy = {
      ...capped(4),
      share: (limit: number) => shareOf(limit, instances),
      instances: () => instances,
    };
    const rig = createRig({ tenancy });
    await rig.addNode('node-a', 10);
    const dispatch = () => rig.service.dispatch(rig.request({ tenantId: 't1' }));
    const kinds = async (count: number) => {
      const all: string[] = [];
      for (let i = 0; i < count; i++) all.push((await dispatch()).kind);
      return all;
    };
    expect(await kinds(3)).toEqual(['dispatched', 'dispatched', 'refused']);
    expect(rig.refusal(await dispatch()).message).toContain('2 of them on each of 2 instances');
    instances = 1;
    expect(await kinds(3)).toEqual(['dispatched', 'dispatched', 'refused']);
  });
});
