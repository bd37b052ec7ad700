/** A second attempt beside an overdue one: when it starts, and what becomes of both. */
import { describe, expect, it } from 'vitest';
import { equalTenancy } from '../../../src/domain/tenancy.ts';
import type { HedgeSettings } from '../../../src/runtime/attempts/hedging.ts';
import { createRig, need, profile, RESULT, type Rig, type RigOptions } from '../rigs/rig.ts';

const HEDGE: HedgeSettings = {
  classes: new Set(['normal']),
  overdueFactor: 3,
  budgetPercent: 20,
  allowsWithoutCancel: false,
};
const OTHER = { ...RESULT, textTranslated: 'of the hedge' };
const FAILURE = { code: 'PROCESSING_ERROR', message: 'boom' };
/** Enough that the budget allows a hedge. */
const JOBS_BEFORE = 10;

interface Overdue extends RigOptions {
  readonly hedge?: Partial<HedgeSettings>;
  /** Slots of the second node. */
  readonly slots?: number;
  readonly doesCancel?: boolean;
}

/** Jobs take a second on `first`. One more has run there for three, and `second` is free. */
async function overdueRig({ hedge, slots = 4, doesCancel = true, ...options }: Overdue = {}) {
  const settings = { ...options.settings, hedge: { ...HEDGE, ...hedge } };
  const rig = createRig({ ...options, settings });
  await rig.addNode('first', 4);
  for (let n = 0; n < JOBS_BEFORE; n += 1) await work(rig);
  const { jobId } = await rig.dispatch();
  const first = rig.last(jobId);
  await rig.service.acknowledge(first);
  const supports = doesCancel ? profile().supports : (['job_ack'] as const);
  if (slots > 0) await rig.addNode('second', slots, profile({ supports }));
  const pass = async (ms: number) => rig.clock.advance(ms);
  const sent = () => rig.sent.filter(({ job }) => job.jobId === jobId).map(({ nodeId }) => nodeId);
  const record = async () => {
    const job = await rig.store.get(jobId);
    if (job === undefined) throw new Error('the job is gone');
    return job;
  };
  return { rig, jobId, first, second: { jobId, nodeId: 'second', attempt: 2 }, pass, sent, record };
}

async function work(rig: Rig): Promise<void> {
  const { jobId } = await rig.dispatch();
  await rig.service.acknowledge(rig.last(jobId));
  await rig.clock.advance(1_000);
  await rig.service.finish(rig.last(jobId), RESULT);
}

describe('a hedge', () => {
  it('starts on another node when an attempt takes three times as long as expected', async () => {
    const { rig, pass, sent, record } = await overdueRig();
    await pass(2_900);
    expect(sent()).toEqual(['first']);
    await pass(200);
    expect(sent()).toEqual(['first', 'second']);
    expect(await record()).toMatchObject({
      state: 'RUNNING',
      fence: { nodeId: 'first', attempt: 1 },
      intent: { nodeId: 'second', attempt: 2 },
    });
    expect(await rig.used('second')).toBe(1);
    await pass(10_000);
    expect(sent()).toHaveLength(2);
  });

  it('I3 I4: its result ends the job, and the first attempt is cancelled and void', async () => {
    const { rig, jobId, first, second, pass, record } = await overdueRig();
    await pass(3_100);
    await rig.service.acknowledge(second);
    expect(await rig.service.finish(second, OTHER)).toMatchObject({ kind: 'accepted' });
    expect(await record()).toMatchObject({ state: 'RELEASED', fence: { attempt: 2 }, result: OTHER });
    expect(rig.cancelled).toEqual([{ nodeId: 'first', jobId, reason: 'superseded' }]);
    expect(await rig.used('second')).toBe(0);
    expect(await rig.service.finish(first, RESULT)).toMatchObject({ kind: 'ignored' });
    expect((await record()).result).toEqual(OTHER);
    expect(await rig.used('first')).toBe(0);
  });

  it('I3 I4: is cancelled and void once the first attempt has brought its result', async () => {
    const { rig, jobId, first, second, pass, record } = await overdueRig();
    await pass(3_100);
    await rig.service.acknowledge(second);
    expect(await rig.service.finish(first, RESULT)).toMatchObject({ kind: 'accepted' });
    expect(rig.cancelled).toEqual([{ nodeId: 'second', jobId, reason: 'superseded' }]);
    expect(await rig.service.finish(second, OTHER)).toMatchObject({ kind: 'ignored' });
    expect(await record()).toMatchObject({ state: 'RELEASED', fence: { attempt: 1 }, result: RESULT });
    expect([await rig.used('first'), await rig.used('second')]).toEqual([0, 0]);
  });

  it('I3: of two results at once one counts', async () => {
    const { rig, first, second, pass, record } = await overdueRig();
    await pass(3_100);
    const reports = await Promise.all([rig.service.finish(second, OTHER), rig.service.finish(first, RESULT)]);
    expect(reports.map(({ kind }) => kind).sort()).toEqual(['accepted', 'ignored']);
    const { result } = await record();
    expect(result).toEqual(reports[0]?.kind === 'accepted' ? OTHER : RESULT);
    expect([await rig.used('first'), await rig.used('second')]).toEqual([0, 0]);
  });

  it('goes on in place of a first attempt that fails', async () => {
    const { rig, first, second, pass, sent, record } = await overdueRig();
    await rig.addNode('third', 4);
    await pass(3_100);
    const { nodeId } = rig.last(first.jobId);
    const hedge = { ...second, nodeId };
    await rig.service.acknowledge(hedge);
    await rig.service.fail(first, FAILURE);
    expect(await record()).toMatchObject({ state: 'RUNNING', fence: { nodeId, attempt: 2 } });
    expect((await record()).intent).toBeUndefined();
    expect([sent().length, await rig.used('first')]).toEqual([2, 0]);
    // It is an attempt like every other now: if its node is lost, the job is retried.
    rig.service.nodeLeft(nodeId, 0);
    await pass(1);
    expect(rig.last(first.jobId)).toMatchObject({ attempt: 3 });
  });

  it('is given up with a first attempt that fails if its node has not acknowledged it', async () => {
    const { rig, jobId, first, pass } = await overdueRig();
    await pass(3_100);
    const { nodeId: hedged } = rig.last(jobId);
    await rig.addNode('third', 4);
    await rig.service.fail(first, FAILURE);
    expect(rig.last(jobId)).toMatchObject({ nodeId: 'third', attempt: 3 });
    expect(rig.cancelled).toEqual([{ nodeId: hedged, jobId, reason: 'superseded' }]);
    expect(await rig.service.finish({ jobId, nodeId: hedged, attempt: 2 }, OTHER)).toMatchObject({
      kind: 'ignored',
    });
  });

  it('ends without harm if its node fails, and its number is not used again', async () => {
    const { rig, jobId, first, second, pass, record } = await overdueRig();
    await pass(3_100);
    expect(await rig.service.fail(second, FAILURE)).toMatchObject({ kind: 'accepted' });
    expect(await record()).toMatchObject({ state: 'RUNNING', fence: { attempt: 1 } });
    expect((await record()).intent).toBeUndefined();
    expect(await rig.used('second')).toBe(0);
    await rig.addNode('third', 4);
    await rig.service.fail(first, FAILURE);
    expect(rig.last(jobId)).toMatchObject({ nodeId: 'third', attempt: 3 });
  });

  it('is cancelled with the job', async () => {
    const { rig, jobId, pass } = await overdueRig();
    await pass(3_100);
    await rig.service.cancel(jobId, 'nobody listens');
    expect(rig.cancelled.map(({ nodeId }) => nodeId).sort()).toEqual(['first', 'second']);
  });

  it('I1: is not sent if the hand-over finds no lease', async () => {
    const { rig, pass, sent, record } = await overdueRig({
      wrapLedger: (ledger) => ({
        ...ledger,
        reserve: (nodeId, lease, ttlMs) =>
          nodeId === 'second' ? { kind: 'reserved', used: 1, max: 4 } : ledger.reserve(nodeId, lease, ttlMs),
      }),
    });
    await pass(3_100);
    expect(sent()).toEqual(['first']);
    expect((await record()).intent).toBeUndefined();
    expect(rig.counts.get('scheduler_hedges_total{failed}')).toBe(1);
  });
});

describe('there is no hedge', () => {
  const without = async (given: Overdue, ms = 10_000) => {
    const made = await overdueRig(given);
    await made.pass(ms);
    expect(made.sent()).toEqual(['first']);
    return made;
  };

  it('by default, nor for tenants of other classes', async () => {
    await without({ hedge: { classes: new Set(['high']) } });
  });

  it('without a free slot elsewhere, until there is one', async () => {
    const { rig, pass, sent } = await without({ slots: 0 });
    expect(rig.counts.get('scheduler_hedges_refused_total{no_slot}')).toBeGreaterThan(1);
    await rig.addNode('second', 1);
    await pass(300);
    expect(sent()).toEqual(['first', 'second']);
  });

  it('while a job waits', async () => {
    const { rig, jobId, pass, sent } = await overdueRig();
    // It fits no free node, and waits.
    rig.fleet.setLoad('first', { used: 4, max: 4 });
    const bound = need({ preferredNodeId: 'first', isStrict: true });
    void rig.service.dispatch(rig.request({ waitMs: 4_000, need: bound }));
    await pass(1);
    if (rig.service.waiting() === 0) throw new Error(`no job waits beside ${jobId}`);
    await pass(3_500);
    expect(sent()).toEqual(['first']);
    expect(rig.counts.get('scheduler_hedges_refused_total{jobs_wait}')).toBeGreaterThan(0);
  });

  it('while the tenant is at its cap', async () => {
    const { rig } = await without({ tenancy: equalTenancy({ maxInflightJobs: 1 }) });
    expect(rig.counts.get('scheduler_hedges_refused_total{tenant_at_cap}')).toBeGreaterThan(0);
  });

  it('on a node that does not confirm cancels, unless that is allowed', async () => {
    await without({ doesCancel: false });
    const { pass, sent } = await overdueRig({ doesCancel: false, hedge: { allowsWithoutCancel: true } });
    await pass(3_100);
    expect(sent()).toEqual(['first', 'second']);
  });

  it('beyond the budget, which counts from the start', async () => {
    const { rig } = await without({ hedge: { budgetPercent: 5 } });
    expect(rig.counts.get('scheduler_hedges_refused_total{budget}')).toBeGreaterThan(0);
  });

  it('for a job that has brought its result in time', async () => {
    const { rig, first, pass, sent } = await overdueRig();
    await pass(2_000);
    await rig.service.finish(first, RESULT);
    await pass(10_000);
    expect(sent()).toEqual(['first']);
  });
});
