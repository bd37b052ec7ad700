/** Where commits cost, an acknowledged attempt is committed a moment later: a job that is over by then needs no longer lease. */
import { describe, expect, it } from 'vitest';
import type { CapacityLedger } from '../../../src/ports/capacity-ledger.ts';
import { holdDelivery } from './hold-delivery.ts';
import { createRig, RESULT, type RigOptions } from './rig.ts';

const DELAY_MS = 20;
const SOME_TICKS_MS = 60;
const KEPT_MS = 2_000;

/** Notes what is committed. */
function createLateRig(
  answer: (ledger: CapacityLedger) => Partial<CapacityLedger> = () => ({}),
  options: RigOptions = {},
) {
  const commits: string[] = [];
  const rig = createRig({
    ...options,
    wrapLedger: (ledger) => ({
      ...ledger,
      commitDelayMs: (_, isKept) => (isKept ? KEPT_MS : DELAY_MS),
      async commit(nodeId, lease, ttlMs) {
        commits.push(lease);
        return ledger.commit(nodeId, lease, ttlMs);
      },
      ...answer(ledger),
    }),
  });
  return { rig, commits };
}

async function running(answer?: (ledger: CapacityLedger) => Partial<CapacityLedger>) {
  const { rig, commits } = createLateRig(answer);
  await rig.addNode('node-a');
  await rig.addNode('node-b');
  const { jobId } = await rig.dispatch();
  const job = rig.last(jobId);
  return { rig, commits, jobId, job, lease: `${jobId}:1` };
}

describe('the commit of a lease', () => {
  it('is spared by a job that ends within the delay', async () => {
    const { rig, commits, jobId, job } = await running();
    expect((await rig.service.acknowledge(job)).kind).toBe('accepted');
    expect(await rig.state(jobId)).toBe('RUNNING');
    expect((await rig.service.finish(job, RESULT)).kind).toBe('accepted');
    await rig.clock.advance(SOME_TICKS_MS);
    expect([commits, await rig.used('node-a'), await rig.used('node-b')]).toEqual([[], 0, 0]);
  });

  it('comes after the delay for one that goes on, and its slot stays taken past the reservation', async () => {
    const { rig, commits, job, lease } = await running();
    await rig.service.acknowledge(job);
    expect(commits).toEqual([]);
    await rig.clock.advance(SOME_TICKS_MS);
    expect(commits).toEqual([lease]);
    await rig.clock.advance(20_000);
    expect(await rig.used(job.nodeId)).toBe(1);
  });

  it('is not made for the attempt after the one it was meant for, which nobody has acknowledged', async () => {
    const { rig, commits, job, jobId } = await running();
    await rig.service.acknowledge(job);
    rig.service.nodeLeft(job.nodeId, 0);
    await rig.clock.advance(SOME_TICKS_MS);
    expect([rig.last(jobId).attempt, await rig.state(jobId), commits]).toEqual([2, 'DISPATCHED', []]);
  });

  it('I1 no oversell: comes later, and in time, if whoever heard the acknowledgement keeps the slot meanwhile', async () => {
    const { rig, commits, job, lease } = await running();
    expect((await rig.service.acknowledge({ ...job, isKept: true })).kind).toBe('accepted');
    await rig.clock.advance(KEPT_MS - SOME_TICKS_MS);
    expect(commits).toEqual([]);
    await rig.clock.advance(2 * SOME_TICKS_MS);
    expect(commits).toEqual([lease]);
    await rig.clock.advance(20_000);
    expect(await rig.used(job.nodeId)).toBe(1);
  });

  it('comes at once, kept or not, when too little of the reservation would be left', async () => {
    const { rig, commits, job, lease } = await running();
    await rig.clock.advance(1_000);
    expect((await rig.service.acknowledge({ ...job, isKept: true })).kind).toBe('accepted');
    expect(commits).toEqual([lease]);
  });

  it('comes at once when the reservation may end first', async () => {
    const { rig, commits, job, lease } = await running();
    await rig.clock.advance(2_900);
    expect((await rig.service.acknowledge(job)).kind).toBe('accepted');
    expect(commits).toEqual([lease]);
  });

  it('comes at once when the reservation was old before the job left', async () => {
    const { rig, commits } = createLateRig(undefined, {
      wrapStore: (store, clock) => ({
        ...store,
        admit: (draft) =>
          new Promise((resolve) => clock.after(1_900, () => resolve(store.admit(draft) as never))),
      }),
    });
    await rig.addNode('node-a');
    const dispatching = rig.service.dispatch(rig.request());
    await rig.clock.advance(1_900);
    expect((await dispatching).kind).toBe('dispatched');
    await rig.clock.advance(700);
    const [sent] = rig.sent;
    await rig.service.acknowledge(rig.last(sent?.job.jobId ?? ''));
    expect(commits).toEqual([`${sent?.job.jobId}:1`]);
  });

  it('comes at once for an attempt whose successor is on its way: its reservation is older than the last send says', async () => {
    const { rig, commits, job, lease } = await running();
    holdDelivery(rig, job.nodeId === 'node-a' ? 'node-b' : 'node-a');
    await rig.clock.advance(3_100);
    expect((await rig.service.acknowledge(job)).kind).toBe('accepted');
    expect(commits).toEqual([lease]);
  });

  it('does not come while the job is being ended: the slot was given back and must not be taken again', async () => {
    const { rig, commits, job } = await running();
    await rig.service.acknowledge(job);
    const move = rig.store.move.bind(rig.store);
    rig.store.move = (...given) =>
      new Promise((resolve) => rig.clock.after(2 * SOME_TICKS_MS, () => resolve(move(...given)))) as never;
    const finishing = rig.service.finish(job, RESULT);
    await rig.clock.advance(SOME_TICKS_MS);
    expect([commits, await rig.used(job.nodeId)]).toEqual([[], 0]);
    await rig.clock.advance(2 * SOME_TICKS_MS);
    expect((await finishing).kind).toBe('accepted');
    expect([commits, await rig.used(job.nodeId)]).toEqual([[], 0]);
  });

  describe('that had to find another master, and comes when the attempt is over', () => {
    const onItsWay = async () => {
      const made = await running((ledger) => ({
        commit: (nodeId, lease, ttlMs) =>
          new Promise((resolve) =>
            made.rig.clock.after(SOME_TICKS_MS, () => resolve(ledger.commit(nodeId, lease, ttlMs))),
          ),
        release: async (...given) => ledger.release(...given),
      }));
      await made.rig.service.acknowledge(made.job);
      await made.rig.clock.advance(SOME_TICKS_MS);
      return made;
    };

    it('is undone after a result', async () => {
      const { rig, job } = await onItsWay();
      const move = rig.store.move.bind(rig.store);
      rig.store.move = async (...given) => move(...given);
      expect((await rig.service.finish(job, RESULT)).kind).toBe('accepted');
      await rig.clock.advance(2 * SOME_TICKS_MS);
      expect(await rig.used(job.nodeId)).toBe(0);
    });

    it.each([
      ['a failure that is tried elsewhere', 'PROCESSING_ERROR'],
      ['a failure that is final', 'ASR_STEP_INVALID_LANG_CONTRACT'],
    ])('is undone after %s', async (_, code) => {
      const { rig, job } = await onItsWay();
      expect((await rig.service.fail(job, { code, message: 'x' })).kind).toBe('accepted');
      await rig.clock.advance(2 * SOME_TICKS_MS);
      expect(await rig.used(job.nodeId)).toBe(0);
    });

    it('is undone after a result that comes while the job is being cancelled', async () => {
      const { rig, job, jobId } = await onItsWay();
      const move = rig.store.move.bind(rig.store);
      rig.store.move = async (...given) => move(...given);
      const cancelling = rig.service.cancel(jobId, 'stop');
      await rig.service.finish(job, RESULT);
      expect((await cancelling).kind).toBe('cancelled');
      await rig.clock.advance(2 * SOME_TICKS_MS);
      expect(await rig.used(job.nodeId)).toBe(0);
    });

    it('leaves the slot to what a node says whose job was cancelled: it is free when that does not name the job', async () => {
      const { rig, job, jobId } = await onItsWay();
      await rig.service.cancel(jobId, 'stop');
      await rig.clock.advance(2 * SOME_TICKS_MS);
      expect(await rig.used(job.nodeId)).toBe(1);
      await rig.ledger.reconcile(job.nodeId, { running: 0, runningJobIds: [] });
      expect(await rig.used(job.nodeId)).toBe(0);
    });

    it('leaves the slot to what a node says that was lost: it is free when that does not name the job', async () => {
      const { rig, job, jobId } = await onItsWay();
      rig.service.nodeLeft(job.nodeId, 0);
      await rig.clock.advance(2 * SOME_TICKS_MS);
      expect([rig.last(jobId).attempt, await rig.used(job.nodeId)]).toEqual([2, 1]);
      await rig.ledger.reconcile(job.nodeId, { running: 0, runningJobIds: [] });
      expect(await rig.used(job.nodeId)).toBe(0);
    });
  });

  it('says nothing to the node if others drive the job before it is answered', async () => {
    const { rig, job } = await running(() => ({
      commit: () =>
        new Promise((resolve) => rig.clock.after(100, () => resolve({ kind: 'lost', used: 1, max: 1 }))),
    }));
    await rig.service.acknowledge(job);
    await rig.clock.advance(SOME_TICKS_MS);
    rig.service.abandonAll();
    await rig.clock.advance(200);
    expect([rig.cancelled, rig.counts.get('scheduler_leases_lost_total')]).toEqual([[], undefined]);
  });

  it('changes nothing if the ledger does not know the node: it may be about to be told of it again', async () => {
    const { rig, job, jobId } = await running(() => ({ commit: async () => ({ kind: 'unknown_node' }) }));
    await rig.service.acknowledge(job);
    await rig.clock.advance(SOME_TICKS_MS);
    expect([await rig.state(jobId), rig.cancelled, rig.sent.length]).toEqual(['RUNNING', [], 1]);
  });

  it('gives the attempt up if the slot turns out to be somebody else’s', async () => {
    const { rig, job, jobId } = await running(() => ({
      commit: async () => ({ kind: 'lost', used: 1, max: 1 }),
    }));
    await rig.service.acknowledge(job);
    await rig.clock.advance(SOME_TICKS_MS);
    expect(rig.counts.get('scheduler_leases_lost_total')).toBe(1);
    expect(rig.cancelled[0]).toMatchObject({ nodeId: job.nodeId, reason: 'lease_lost' });
    expect(rig.last(jobId)).toMatchObject({ attempt: 2 });
  });
});
