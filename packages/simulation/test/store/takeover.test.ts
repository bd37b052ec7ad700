/** Jobs on the simulated store change their driver as on Redis: by comparison, once, and never back. */
import { expect, it } from 'vitest';
import { systemClock } from '../../../scheduler/dist/adapters/system/clock.js';
import { createIdSource } from '../../../scheduler/dist/adapters/system/id-source.js';
import type { JobRecord } from '../../../scheduler/dist/domain/job.js';
import { times } from '../../../scheduler/test/contracts/harness.ts';
import {
  changeTo,
  draftJob,
  draftRequest,
  expectedOf,
  fail,
  finish,
  moveOn,
  repeatOf,
  run,
} from '../../../scheduler/test/contracts/job-draft.ts';
import { createInstances } from '../../src/store/instances.ts';
import { createJobStore } from '../../src/store/job-store.ts';
import { createVirtualRig } from './virtual-rig.ts';

const LIMITS = {
  bindingLeaseMs: 60_000,
  retentionMs: 300_000,
  maxRetained: 10_000,
  maxRetainedBytes: 64_000_000,
  maxInflight: 10_000,
  maxBindings: 10_000,
  resultInlineMaxBytes: 512 * 1024,
  liveMarginMs: 1_000,
};
const { digest } = createIdSource({ clock: systemClock, digestsRequests: true });
const GONE = { instanceId: 'a' };
const ids = (jobs: readonly { jobId: string }[]): string[] => jobs.map(({ jobId }) => jobId).toSorted();

/** `a` dies in most tests; `b` and `c` live. */
async function start() {
  const rig = createVirtualRig();
  const self = { incarnation: '1' };
  const open = (instanceId: string, driver = () => `${instanceId}/1`) => {
    const machine = rig.machineOf(instanceId);
    const lines = rig.lines(machine);
    return rig.driven(createJobStore({ lines, clock: machine.clock, digest, instanceId, driver, ...LIMITS }));
  };
  const [a, b, c] = [open('a', () => `a/${self.incarnation}`), open('b'), open('c')];
  const instances = rig.driven(createInstances({ lines: rig.lines() }));
  for (const instanceId of ['a', 'b', 'c']) {
    const about = { instanceId, incarnation: '1', startedAt: 0, hostname: 'h', pid: 1, version: '1' };
    await instances.announce(about, 60_000);
  }
  const now = rig.machine.clock.now;
  const admit = async (count: number): Promise<JobRecord[]> => {
    const drafts = times(count, (index) => draftJob(now() + index));
    for (const draft of drafts) await a.admit(draft);
    return drafts;
  };
  return { ...rig, self, a, b, c, now, admit };
}

it('lists the jobs of an instance, earliest deadlines first', async () => {
  const { b, admit } = await start();
  const drafts = await admit(3);
  expect(await b.drivenBy('a', 10)).toEqual(drafts.map(({ jobId, deadlineAt }) => ({ jobId, deadlineAt })));
  expect(await b.drivenBy('a', 2)).toHaveLength(2);
  expect(await b.drivenBy('nobody', 2)).toEqual([]);
});

it('gives each job to exactly one of several concurrent survivors', async () => {
  const { a, b, c, admit } = await start();
  const drafts = await admit(20);
  for (const job of drafts) {
    const results = await Promise.all([b.takeOver(job, GONE), c.takeOver(job, GONE)]);
    expect(results.map(({ kind }) => kind).sort()).toEqual(['driven', 'taken']);
    const [winner, loser] = results[0]?.kind === 'taken' ? [b, c] : [c, b];
    expect([winner.drives(job.jobId), loser.drives(job.jobId)]).toEqual([true, false]);
    expect(await loser.move(job.jobId, expectedOf(job), changeTo('FAILED'))).toEqual({
      kind: 'driven_elsewhere',
    });
    expect(await moveOn(winner, job.jobId, 'RESERVED')).toMatchObject({ kind: 'moved' });
  }
  await Promise.all([b.close(), c.close()]);
  expect(await a.drivenBy('a', 100)).toEqual([]);
  expect(ids([...(await a.drivenBy('b', 100)), ...(await a.drivenBy('c', 100))])).toEqual(ids(drafts));
});

it('I4 fencing: a frozen driver changes nothing after a takeover', async () => {
  const { a, b, admit } = await start();
  const [created, running] = (await admit(2)) as [JobRecord, JobRecord];
  const ran = await run(a, running.jobId);
  const known = (ran.kind === 'moved' && ran.job) as JobRecord;
  for (const job of [created, running]) await b.takeOver(job, GONE);
  const before = [await b.get(created.jobId), await b.get(running.jobId)];
  for (const job of [created, known]) {
    for (const state of ['FINISHED', 'FAILED', 'RETRYING', 'RELEASED'] as const) {
      expect(await a.move(job.jobId, expectedOf(job), changeTo(state))).toEqual({ kind: 'driven_elsewhere' });
    }
    await a.discard(job.jobId);
    expect(await a.restore({ ...job, fence: { nodeId: 'node-z', attempt: 9 } })).toBe('driven_elsewhere');
    expect(await a.takeOver(job, GONE)).toEqual({ kind: 'driven' });
    expect(a.drives(job.jobId)).toBe(false);
  }
  await a.close();
  expect([await b.get(created.jobId), await b.get(running.jobId)]).toEqual(before);
  expect(await moveOn(b, running.jobId, 'FINISHED')).toMatchObject({ kind: 'moved' });
});

it('takes jobs from a previous incarnation, never from a living one', async () => {
  const { self, a, b, admit } = await start();
  const [job] = (await admit(1)) as [JobRecord];
  expect(await b.takeOver(job, { instanceId: 'a', livingIncarnation: '1' })).toEqual({ kind: 'driven' });
  self.incarnation = '2';
  expect(a.drives(job.jobId)).toBe(false);
  expect(await a.takeOver(job, { instanceId: 'a', livingIncarnation: '2' })).toMatchObject({ kind: 'taken' });
  expect(await a.driverOf(job.jobId)).toEqual({ driver: 'a/2', isSettled: false });
  expect(ids(await b.drivenBy('a', 5))).toEqual([job.jobId]);
});

it('keeps the indexes of a dead instance while a job is left', async () => {
  const { a, b, admit, timed } = await start();
  const [settled, live] = (await admit(2)) as [JobRecord, JobRecord];
  await finish(a, settled.jobId);
  await a.close();
  expect(await b.takeOver(settled, GONE)).toEqual({ kind: 'settled' });
  expect(await b.forgetIndexes('a')).toBe(false);
  await b.takeOver(live, GONE);
  await b.inheritSettled('a');
  expect(await b.forgetIndexes('a')).toBe(true);
  await timed.advance(100);
  expect(ids((await b.list({ limit: 10 })).jobs)).toEqual(ids([settled, live]));
});

it('I3 one live job: a lost job gives way to the next one of its request', async () => {
  const { a, b, now, shards } = await start();
  const draft = draftRequest(now());
  await a.admit(draft);
  for (const shard of shards) shard.state.jobs.clear();
  const next = repeatOf(draft);
  await b.admit(next);
  expect(await a.restore(draft)).toBe('driven_elsewhere');
  await fail(b, next.jobId);
  expect(await a.restore(draft)).toBe('restored');
  expect((await b.bound(draft.tenantId, draft.requestId as string))?.jobId).toBe(draft.jobId);
  expect((await b.get(next.jobId))?.state).toBe('FAILED');
});
