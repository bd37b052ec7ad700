/** Jobs in a mailbox: whoever fetches one makes its slot last, so that no commit is needed; without its node's word that slot is not kept. */
import { describe, expect, it } from 'vitest';
import type { Delivery } from '../../../src/ports/node-link.ts';
import { createRig, RESULT } from './rig.ts';

const DELAY_MS = 20;
const KEPT_MS = 2_000;
const ACK_MS = 3_000;
const QUEUED: Delivery = { kind: 'queued', isLasting: true };

/** Its nodes poll; what is committed is noted. */
async function createPolled(nodes: readonly string[] = ['node-a'], delivery: Delivery = QUEUED) {
  const commits: string[] = [];
  const state = { isLasting: true };
  const rig = createRig({
    wrapLedger: (ledger) => ({
      ...ledger,
      commitDelayMs: (_, isKept) => (isKept ? KEPT_MS : DELAY_MS),
      lastsWhenFetched: () => state.isLasting,
      async commit(nodeId, lease, ttlMs) {
        commits.push(lease);
        return ledger.commit(nodeId, lease, ttlMs);
      },
    }),
  });
  for (const nodeId of nodes) {
    await rig.addNode(nodeId);
    rig.onDelivery(nodeId, () => delivery);
  }
  return { rig, commits, state };
}

async function startPolled(...given: Parameters<typeof createPolled>) {
  const made = await createPolled(...given);
  const { jobId } = await made.rig.dispatch();
  return { ...made, jobId, job: made.rig.last(jobId), lease: `${jobId}:1` };
}

describe('a job that was fetched from a mailbox', () => {
  it('is never committed, however long it runs, and whoever heard of it is told that it need not keep the slot', async () => {
    const { rig, commits, job } = await startPolled();
    const verdict = await rig.service.acknowledge({ ...job, isKept: true });
    expect(verdict).toMatchObject({ kind: 'accepted', isLasting: true });
    await rig.clock.advance(10_000);
    expect((await rig.service.finish(job, RESULT)).kind).toBe('accepted');
    expect([commits, rig.unacknowledged]).toEqual([[], []]);
  });

  it('is not committed either if it is acknowledged late, but in time', async () => {
    const { rig, commits, job } = await startPolled();
    await rig.clock.advance(ACK_MS - 100);
    expect(await rig.service.acknowledge(job)).toMatchObject({ isLasting: true });
    await rig.clock.advance(10_000);
    expect(commits).toEqual([]);
  });

  it.each([
    ['its slot was not named', { kind: 'queued' } as const, true],
    ['not all instances made slots last when it was put there', QUEUED, false],
  ])('I1 no oversell: is committed if %s', async (_, delivery, isLasting) => {
    const { rig, commits, state } = await createPolled(['node-a'], delivery);
    state.isLasting = isLasting;
    const { jobId } = await rig.dispatch();
    // By now all of them do: whoever handed it out may have gone since.
    state.isLasting = true;
    const verdict = await rig.service.acknowledge(rig.last(jobId));
    expect(verdict).not.toHaveProperty('isLasting');
    await rig.clock.advance(100);
    expect(commits).toEqual([`${jobId}:1`]);
  });

  it('I1 no oversell: is committed in time if an instance that makes nothing last turns out to have joined', async () => {
    const { rig, commits, state, job, lease } = await startPolled();
    await rig.service.acknowledge(job);
    state.isLasting = false;
    await rig.clock.advance(KEPT_MS + 100);
    expect(commits).toEqual([lease]);
    await rig.clock.advance(20_000);
    expect(await rig.used(job.nodeId)).toBe(1);
  });

  it('I2 no leak: does not keep its slot for long if nobody acknowledges it', async () => {
    const { rig, lease } = await startPolled(['node-a', 'node-b']);
    await rig.clock.advance(ACK_MS - 100);
    expect(rig.unacknowledged).toEqual([]);
    await rig.clock.advance(200);
    expect(rig.unacknowledged).toEqual([lease]);
  });

  it('I1 no oversell: is committed if its node speaks up after that', async () => {
    const { rig, commits, job, lease } = await startPolled();
    await rig.clock.advance(ACK_MS + 100);
    expect(rig.unacknowledged).toEqual([lease]);
    const verdict = await rig.service.acknowledge(job);
    expect(verdict.kind).toBe('accepted');
    expect(verdict).not.toHaveProperty('isLasting');
    await rig.clock.advance(100);
    // Once more: the first may have come before its slot was cut back.
    expect(commits).toEqual([lease, lease]);
  });

  it('I1 no oversell: keeps its slot if it is given up while it runs', async () => {
    const { rig, job } = await startPolled();
    await rig.service.acknowledge(job);
    rig.service.nodeLeft(job.nodeId, 0);
    await rig.clock.advance(100);
    expect(rig.unacknowledged).toEqual([]);
  });

  it('I2 no leak: does not keep its slot for long if it is cancelled before its node took it', async () => {
    const { rig, jobId, lease } = await startPolled();
    await rig.service.cancel(jobId, 'enough');
    expect(rig.unacknowledged).toEqual([lease]);
  });

  it('I1 no oversell: keeps its slot if it is cancelled while it runs', async () => {
    const { rig, jobId, job } = await startPolled();
    await rig.service.acknowledge(job);
    await rig.service.cancel(jobId, 'enough');
    expect(rig.unacknowledged).toEqual([]);
  });

  it('I2 no leak: does not keep its slot for long if nobody knows whether it got there, and no word of it comes', async () => {
    const { rig } = await createPolled(['node-a'], { kind: 'unknown', reason: 'fault' });
    const dispatched = await rig.service.dispatch(rig.request());
    await rig.clock.advance(ACK_MS + 100);
    const { jobId } = 'job' in dispatched ? dispatched.job : { jobId: '' };
    expect(new Set(rig.unacknowledged)).toEqual(new Set([`${jobId}:1`]));
  });

  it.each([
    ['before its node says that it has it', true],
    ['while it runs', false],
  ])(
    'I1 no oversell: is committed if the store may have lost that it was fetched, %s',
    async (_, isBefore) => {
      const { rig, commits, job, lease } = await startPolled();
      if (!isBefore) await rig.service.acknowledge(job);
      rig.service.doubtSlots((nodeId) => nodeId === 'node-b');
      rig.service.doubtSlots((nodeId) => nodeId === job.nodeId);
      if (isBefore) expect(await rig.service.acknowledge(job)).not.toHaveProperty('isLasting');
      await rig.clock.advance(KEPT_MS + 100);
      expect(commits).toEqual([lease]);
    },
  );

  it('is not committed for a store that may have lost something elsewhere', async () => {
    const { rig, commits, job } = await startPolled();
    rig.service.doubtSlots((nodeId) => nodeId !== job.nodeId);
    await rig.service.acknowledge(job);
    await rig.clock.advance(KEPT_MS + 100);
    expect(commits).toEqual([]);
  });

  it('I2 no leak: does not keep its slot for long if nobody knows whether it got there, and another node has it', async () => {
    const { rig } = await createPolled(['node-a', 'node-b']);
    const unclear: string[] = [];
    for (const nodeId of ['node-a', 'node-b'])
      rig.onDelivery(nodeId, () => {
        unclear.push(nodeId);
        return unclear.length === 1 ? { kind: 'unknown', reason: 'fault' } : QUEUED;
      });
    const { jobId } = await rig.dispatch();
    expect([rig.last(jobId).attempt, rig.unacknowledged]).toEqual([2, [`${jobId}:1`]]);
  });

  it('I2 no leak: does not keep its slot for long if it is cancelled while it is put there', async () => {
    const { rig } = await createPolled();
    let arrive = (_: Delivery): void => {};
    rig.onDelivery('node-a', () => new Promise((resolve) => (arrive = resolve)));
    void rig.service.dispatch(rig.request({ requestId: 'r', fingerprint: 'f' }));
    await rig.clock.advance(1);
    const jobId = (await rig.store.bound('default', 'r'))?.jobId ?? '';
    await rig.service.cancel(jobId, 'enough');
    // It may have been fetched before anybody heard that it is there.
    const before = rig.unacknowledged.length;
    arrive(QUEUED);
    await rig.clock.advance(1);
    expect(rig.unacknowledged.slice(before)).toEqual([`${jobId}:1`]);
  });
});
