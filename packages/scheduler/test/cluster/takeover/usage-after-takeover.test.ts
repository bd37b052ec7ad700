/** Each accepted result counts once, whether its driver dies before or after it wrote what was used. */
import { expect, it } from 'vitest';
import { createIdSource } from '../../../src/adapters/system/id-source.ts';
import type { JobRecord } from '../../../src/domain/job.ts';
import { createUsageRecorder } from '../../../src/runtime/usage/record-usage.ts';
import { changeTo, draftJob, expectedOf, RESULT } from '../../contracts/job-draft.ts';
import { createTestCluster } from '../../support/test-cluster.ts';
import { createTally, QUIET } from '../messaging/message-bus-rig.ts';

const GONE = { instanceId: 'a' };
const STAGES = [{ stage: 'asr', language: 'zh', amounts: { results: 1, audio_ms: 1_500 } }] as const;

function start() {
  const cluster = createTestCluster();
  const { clock } = cluster;
  const { digest } = createIdSource({ clock, digestsRequests: true });
  function open(instanceId: string) {
    const store = cluster.open();
    const state = { isUsageAway: false };
    const usage = createUsageRecorder({
      clock,
      log: QUIET,
      meter: createTally().meter,
      store: {
        add: async (...jobs) => {
          if (state.isUsageAway) throw new Error('away');
          await store.usage.add(...jobs);
        },
      },
    });
    const driver = () => `${instanceId}/1`;
    const jobs = store.jobs({ instanceId, driver, digest, onAudioDropped: () => {}, usage });
    return { jobs, usage, state };
  }
  const [a, b, c] = [open('a'), open('b'), open('c')];

  const moveOf = () => changeTo('RELEASED', { result: RESULT, usage: { at: clock.now(), stages: STAGES } });

  /** In one move, like the result of a node that was never acknowledged. */
  async function finish(tenantId = 'tenant-a'): Promise<JobRecord> {
    const job = draftJob(clock.now(), { tenantId });
    await a.jobs.admit(job);
    const moved = await a.jobs.move(job.jobId, expectedOf(job), moveOf());
    if (moved.kind !== 'moved') throw new Error(moved.kind);
    return moved.job;
  }
  const countedOf = async (tenantId = 'tenant-a') =>
    (await cluster.store.usage.totals(tenantId, clock.now())).day.jobs;
  const left = () => b.jobs.drivenBy('a', 10);
  return { ...cluster, a, b, c, open, moveOf, finish, countedOf, left };
}

it('a job stays in the index of its driver until its usage is written', async () => {
  const { clock, a, finish, countedOf, left } = start();
  a.state.isUsageAway = true;
  const { jobId } = await finish();
  await clock.advance(10_000);
  expect((await left()).map((job) => job.jobId)).toEqual([jobId]);
  expect(await countedOf()).toBe(0);
  a.state.isUsageAway = false;
  // One second for the usage, one for the index.
  await clock.advance(2_000);
  expect(await left()).toEqual([]);
  expect(await countedOf()).toBe(1);
});

it('the survivors count a job that the dead driver did not count, once', async () => {
  const { a, b, c, finish, countedOf, left } = start();
  a.state.isUsageAway = true;
  await finish();
  const [position] = await left();
  if (position === undefined) throw new Error('the job has left the index');
  const taken = await Promise.all([b.jobs.takeOver(position, GONE), c.jobs.takeOver(position, GONE)]);
  expect(taken).toEqual([{ kind: 'settled' }, { kind: 'settled' }]);
  expect(await countedOf()).toBe(1);
  expect(await left()).toEqual([]);
});

it('the survivor counts nothing again that the dead driver had counted', async () => {
  const { a, b, finish, countedOf, left } = start();
  await finish();
  await a.usage.flush();
  // The end of the index entry was not written yet.
  const [position] = await left();
  if (position === undefined) throw new Error('the job has left the index');
  await b.jobs.takeOver(position, GONE);
  expect(await countedOf()).toBe(1);
});

it('a takeover without an answer of the usage store leaves the job in the index', async () => {
  const { a, b, finish, countedOf, left } = start();
  a.state.isUsageAway = true;
  await finish();
  b.state.isUsageAway = true;
  const [position] = await left();
  if (position === undefined) throw new Error('the job has left the index');
  await expect(b.jobs.takeOver(position, GONE)).rejects.toThrow('away');
  expect(await left()).toEqual([position]);
  expect(await b.jobs.forgetIndexes('a')).toBe(false);
  b.state.isUsageAway = false;
  expect(await b.jobs.takeOver(position, GONE)).toEqual({ kind: 'settled' });
  expect(await countedOf()).toBe(1);
});

it('a failed job counts nothing and leaves the index at once', async () => {
  const { clock, a, countedOf, left } = start();
  const job = draftJob(clock.now(), { tenantId: 'tenant-a' });
  await a.jobs.admit(job);
  await a.jobs.move(
    job.jobId,
    expectedOf(job),
    changeTo('FAILED', { failure: { code: 'JOB_TIMEOUT', message: 'no answer' } }),
  );
  await clock.advance(1_000);
  expect(await left()).toEqual([]);
  expect(await countedOf()).toBe(0);
});

it('a lost answer to the move does not lose the count', async () => {
  const { clock, a, open, moveOf, countedOf } = start();
  const job = draftJob(clock.now(), { tenantId: 'tenant-a' });
  await a.jobs.admit(job);
  // The same driver makes the move, but `a` gets no answer and counts nothing.
  const deaf = open('a');
  deaf.state.isUsageAway = true;
  expect((await deaf.jobs.move(job.jobId, expectedOf(job), moveOf())).kind).toBe('moved');
  await clock.advance(2_000);
  expect(await countedOf()).toBe(0);
  // The engine repeats the move, and the store answers that it was made.
  expect((await a.jobs.move(job.jobId, expectedOf(job), moveOf())).kind).toBe('stale');
  await clock.advance(2_000);
  expect(await countedOf()).toBe(1);
});
