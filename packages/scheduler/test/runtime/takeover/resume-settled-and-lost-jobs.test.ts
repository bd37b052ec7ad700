/** Jobs taken over that have an outcome, cannot have one, or whose node disconnected with their driver. */
import { describe, expect, it } from 'vitest';
import type { JobRecord } from '../../../src/domain/job.ts';
import { legacyProfile, RESULT } from '../rigs/rig.ts';
import { createInstances, type Instances } from '../rigs/two-instances.ts';

const FAILURE = { code: 'PROCESSING_ERROR', message: 'boom' };

/** The first instance crashes when the job is in that state, before it is moved on. */
async function crashAt(state: string, play: (instances: Instances, jobId: string) => Promise<unknown>) {
  let isDead = false;
  const instances = createInstances({
    settings: { maxRetry: 0 },
    wrapFirst: (store) => ({
      ...store,
      async move(...move) {
        if (isDead) return new Promise(() => {});
        const moved = await store.move(...move);
        isDead = move[2].state === state;
        return moved;
      },
    }),
  });
  await instances.addNode('node-a');
  const { jobId } = await instances.first.dispatch();
  void play(instances, jobId);
  await instances.first.clock.advance(100);
  instances.first.service.dropAll();
  return { ...instances, found: await instances.takeOver(jobId), jobId };
}

describe('resuming a job that has its outcome', () => {
  it('resuming a FINISHED job releases its slot and writes RELEASED', async () => {
    const { first, second, addNode, record, takeOver } = createInstances();
    await addNode('node-a');
    const { jobId } = await first.dispatch();
    await first.service.acknowledge(first.last(jobId));
    // FINISHED is written without RELEASED, as by an instance that dies in between.
    const entry = { state: 'FINISHED', at: first.clock.now(), attempt: 1, nodeId: 'node-a' } as const;
    const change = { state: 'FINISHED', result: RESULT, entry } as const;
    await first.store.move(jobId, { state: 'RUNNING', fenceAttempt: 1 }, change);
    first.service.dropAll();
    expect(await first.used('node-a')).toBe(1);
    const found = await takeOver(jobId);
    expect(found.state).toBe('FINISHED');
    await first.clock.advance(1);
    second.audio.put(jobId, 'acme', Buffer.from([1]));
    second.service.resume(found);
    expect(second.audio.size()).toBe(0);
    await first.clock.advance(1);
    expect(await record(jobId)).toMatchObject({ state: 'RELEASED', result: RESULT });
    expect(await first.used('node-a')).toBe(0);
    expect(second.service.inFlight()).toBe(0);
    expect(second.cancelled).toEqual([]);
  });

  it('resuming a FAILED job leaves its lease to expire', async () => {
    const { first, second, found, jobId, record } = await crashAt('FAILED', ({ first }, id) =>
      first.service.cancel(id, 'x'),
    );
    expect(found.state).toBe('FAILED');
    await first.clock.advance(1);
    expect((await record(jobId)).timeline.at(-1)).toMatchObject({
      state: 'RELEASED',
      reason: 'lease_left_to_expire',
    });
    await first.ledger.reconcile('node-a', { running: 0, runningJobIds: [] });
    expect(await first.used('node-a')).toBe(0);
    expect(second.service.inFlight()).toBe(0);
  });

  it('resuming a RELEASED job changes nothing', async () => {
    const { first, second, addNode, record, takeOver } = createInstances();
    await addNode('node-a');
    const { jobId } = await first.dispatch();
    await first.service.finish(first.last(jobId), RESULT);
    await first.clock.advance(40);
    const before = await takeOver(jobId);
    await first.clock.advance(10);
    expect(await record(jobId)).toEqual(before);
    expect(first.clock.pending()).toBe(0);
    expect(second.service.inFlight()).toBe(0);
  });
});

describe('resuming a job without its need', () => {
  it('a job whose record has no need fails with INTERNAL_ERROR', async () => {
    const { first, second, addNode, drivers, record } = createInstances();
    await addNode('node-a');
    const { jobId } = await first.dispatch();
    first.service.dropAll();
    drivers.assign(jobId, 'second');
    const { need: _, ...bare } = await record(jobId);
    second.service.resume(bare);
    await first.clock.advance(10);
    expect(await record(jobId)).toMatchObject({ state: 'RELEASED', failure: { code: 'INTERNAL_ERROR' } });
    expect(second.cancelled).toEqual([{ nodeId: 'node-a', jobId, reason: 'INTERNAL_ERROR' }]);
    expect(second.service.inFlight()).toBe(0);
  });
});

describe('resuming a job whose node is unknown here', () => {
  /** The second instance does not know node-a; the job needs no audio. */
  async function resumeWithout(
    state: 'DISPATCHED' | 'RUNNING',
    kind?: Parameters<Instances['first']['addNode']>[2],
  ) {
    const instances = createInstances();
    const { first, second } = instances;
    await first.addNode('node-a', 1, kind);
    await second.addNode('node-b');
    const request = first.request();
    const outcome = await first.service.dispatch({
      ...request,
      spec: { ...request.spec, audio: { kind: 'none' } },
    });
    if (outcome.kind !== 'dispatched') throw new Error('was refused');
    const { jobId } = outcome.job;
    if (state === 'RUNNING') await first.service.acknowledge(first.last(jobId));
    first.service.dropAll();
    await instances.takeOver(jobId);
    return { ...instances, jobId, answer: first.last(jobId) };
  }
  const entries = ({ timeline }: JobRecord) => timeline.map(({ state, reason }) => reason ?? state);

  for (const state of ['DISPATCHED', 'RUNNING'] as const) {
    it(`a ${state} job waits for its unknown node, then counts it as lost`, async () => {
      const { first, second, jobId, record } = await resumeWithout(state);
      await first.clock.advance(2_900);
      expect((await record(jobId)).state).toBe(state);
      await first.clock.advance(200);
      expect(second.last(jobId)).toMatchObject({ nodeId: 'node-b', attempt: 2 });
      expect(entries(await record(jobId))).toContain('WS_DISCONNECTED');
      // The node may live behind a broken network: its report decides about the slot.
      expect(await first.used('node-a')).toBe(1);
      await first.ledger.reconcile('node-a', { running: 0, runningJobIds: [] });
      expect(await first.used('node-a')).toBe(0);
    });

    it(`a ${state} job goes on when its reconnected node names it`, async () => {
      const { first, second, jobId, record, answer } = await resumeWithout(state);
      await first.clock.advance(2_000);
      await second.addNode('node-a');
      second.service.nodeReturned('node-a', [jobId]);
      await first.clock.advance(10_000);
      expect((await record(jobId)).state).toBe('RUNNING');
      expect(second.sent).toEqual([]);
      expect((await second.service.finish(answer, RESULT)).kind).toBe('accepted');
    });

    it(`a ${state} job is retried when its reconnected node does not name it`, async () => {
      const { first, second, jobId } = await resumeWithout(state);
      await second.addNode('node-a');
      second.service.nodeReturned('node-a', [], 7);
      await first.clock.advance(10);
      expect(second.last(jobId)).toMatchObject({ nodeId: 'node-b', attempt: 2 });
    });
  }

  it('a reconnected node that acknowledges jobs gets one acknowledgement timeout', async () => {
    const { first, second, jobId, record } = await resumeWithout('DISPATCHED');
    await second.addNode('node-a');
    second.service.nodeReturned('node-a', undefined);
    await first.clock.advance(5_900);
    expect((await record(jobId)).fence).toEqual({ nodeId: 'node-a', attempt: 1 });
    await first.clock.advance(200);
    expect(second.last(jobId)).toMatchObject({ nodeId: 'node-b', attempt: 2 });
  });

  it('the lease of a lost node ends with its report, before any retry', async () => {
    const { first, second, jobId, record } = await resumeWithout('RUNNING');
    second.fleet.remove('node-b');
    await first.clock.advance(3_100);
    expect((await record(jobId)).state).toBe('RETRYING');
    expect(await first.used('node-a')).toBe(1);
    await first.ledger.reconcile('node-a', { running: 0, runningJobIds: [] });
    expect(await first.used('node-a')).toBe(0);
  });

  it('a job that its node named and never finished is retried', async () => {
    const { first, second, jobId } = await resumeWithout('RUNNING');
    await second.addNode('node-a');
    second.service.nodeReturned('node-a', [jobId]);
    await first.clock.advance(60_100);
    expect(second.last(jobId)).toMatchObject({ nodeId: 'node-b', attempt: 2 });
  });

  it('a reconnected legacy node gets the job timeout, not the acknowledgement timeout', async () => {
    const { first, second, jobId, record } = await resumeWithout('DISPATCHED', legacyProfile());
    await second.addNode('node-a', 1, legacyProfile());
    second.service.nodeReturned('node-a', undefined);
    await first.clock.advance(30_000);
    expect((await record(jobId)).state).toBe('DISPATCHED');
    await first.clock.advance(40_000);
    expect(await record(jobId)).toMatchObject({ state: 'RELEASED', failure: { code: 'JOB_TIMEOUT' } });
  });

  it('a node that is offline here counts as unknown', async () => {
    const { first, second, jobId } = await resumeWithout('RUNNING');
    const view = first.fleet.view('node-a');
    if (view === undefined) throw new Error('the first instance knows it');
    second.fleet.upsert({ ...view, health: 'offline' });
    await first.clock.advance(3_100);
    expect(second.last(jobId)).toMatchObject({ nodeId: 'node-b', attempt: 2 });
  });

  it('a job that lost two nodes under two drivers is not retried', async () => {
    const { first, second, jobId, record, drivers } = await resumeWithout('RUNNING');
    await first.clock.advance(3_100);
    await second.service.acknowledge(second.last(jobId));
    second.service.dropAll();
    second.fleet.remove('node-b');
    await second.addNode('node-c');
    drivers.assign(jobId, 'second');
    second.service.resume(await record(jobId));
    await first.clock.advance(3_100);
    expect(await record(jobId)).toMatchObject({ state: 'RELEASED', failure: { code: 'NODE_UNAVAILABLE' } });
    expect(second.last(jobId).nodeId).toBe('node-b');
  });

  it('a failure report of the lost node is not taken for its return', async () => {
    const { first, second, jobId, answer } = await resumeWithout('RUNNING');
    expect((await second.service.fail(answer, FAILURE)).kind).toBe('accepted');
    await first.clock.advance(10);
    expect(second.last(jobId)).toMatchObject({ nodeId: 'node-b', attempt: 2 });
    await first.clock.advance(2_000);
    await second.service.acknowledge(second.last(jobId));
    await first.clock.advance(10_000);
    expect(second.last(jobId).attempt).toBe(2);
  });
});
