/** What the store answers late: by then a job may be over, and this instance may be another incarnation, whose job it is not. */
import { expect, it } from 'vitest';
import type { IndexScripts, RecordScripts, StoredJob } from '../../src/adapters/shared-jobs/job-scripts.ts';
import { createJobStore } from '../../src/adapters/shared-jobs/job-store.ts';
import { SOON_MS } from '../../src/adapters/shared-jobs/owed-moves.ts';
import { changeJob } from '../../src/domain/job-change.ts';
import { changeTo, draftJob, expectedOf } from '../contracts/job-draft.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { ROOMY } from '../support/redis-jobs.ts';

const FAILED = changeTo('FAILED', { failure: { code: 'JOB_TIMEOUT', message: 'no answer' } });

/** A store that does what it is asked, unless a test holds its answers up. */
function start() {
  const clock = createManualClock();
  const self = { incarnation: '1', former: 'dead/1', isHeldAtLast: false };
  const written: string[] = [];
  const waiting: (() => void)[] = [];
  let isHeld = false;
  const answer = <T>(how: T): Promise<T> =>
    isHeld ? new Promise((resolve) => waiting.push(() => resolve(how))) : Promise.resolve(how);
  const job = draftJob(clock.now());
  const stored: StoredJob = { record: job, revision: job.timeline.length, driver: 'me/1', watchers: [] };
  const scripts = {
    admit: () => answer({ kind: 'admitted' }),
    read: () => answer(stored),
    restore: async () => ({ kind: 'restored' }),
    takeOver: () => answer({ kind: 'taken', stored, lifeMs: Number.POSITIVE_INFINITY, former: self.former }),
    move: async (_driver, _jobId, _expected, change) => {
      written.push(change.state);
      const record = changeJob(job, change);
      return { kind: 'moved', record, revision: record.timeline.length, bytes: 0, watchers: [] };
    },
  } as Partial<RecordScripts> as RecordScripts;
  const indexes = {
    note: () => answer(undefined),
    // What it does with the index of another comes last.
    leave: () => {
      isHeld ||= self.isHeldAtLast;
      return answer(undefined);
    },
  } as Partial<IndexScripts> as IndexScripts;
  const store = createJobStore({
    scripts,
    indexes,
    clock,
    endOfTurn: async () => {},
    digest: (text) => text,
    instanceId: 'me',
    driver: () => `me/${self.incarnation}`,
    ...ROOMY,
  });
  return {
    clock,
    store,
    self,
    job,
    written,
    holdUp() {
      isHeld = true;
    },
    async answerNow() {
      isHeld = false;
      for (const tell of waiting.splice(0)) tell();
      await clock.advance(0);
    },
    /** It was taken for dead, and has noticed. */
    beReborn() {
      self.incarnation = '2';
      store.drives(job.jobId);
    },
  };
}

it('a job that ends while the store is told of it again is not driven here any more', async () => {
  const { store, job, holdUp, answerNow } = start();
  await store.admit(job);
  holdUp();
  const restoring = store.restore(job);
  await store.move(job.jobId, expectedOf(job), FAILED);
  await answerNow();
  expect(await restoring).toBe('restored');
  expect(store.drives(job.jobId)).toBe(false);
});

it('a job that the store was told of again by an earlier life is not driven by this one', async () => {
  const { store, job, holdUp, answerNow, beReborn } = start();
  await store.admit(job);
  holdUp();
  const restoring = store.restore(job);
  beReborn();
  await answerNow();
  await restoring;
  expect(store.drives(job.jobId)).toBe(false);
});

it('I4 fencing: a job that was taken over in the name of an earlier life is not driven by this one', async () => {
  const { clock, store, job, holdUp, answerNow, beReborn } = start();
  const { jobId, deadlineAt } = job;
  const taking = store.takeOver({ jobId, deadlineAt }, { instanceId: 'dead' });
  await Promise.resolve();
  holdUp();
  await clock.advance(0);
  beReborn();
  await answerNow();
  expect(await taking).toEqual({ kind: 'driven' });
  expect(store.drives(jobId)).toBe(false);
});

it('I4 fencing: nor is one that was only to be taken off the index of the dead when this life began', async () => {
  const { clock, store, self, job, answerNow, beReborn } = start();
  const { jobId, deadlineAt } = job;
  self.isHeldAtLast = true;
  const taking = store.takeOver({ jobId, deadlineAt }, { instanceId: 'dead' });
  await clock.advance(0);
  expect(store.drives(jobId)).toBe(true);
  beReborn();
  await answerNow();
  expect(await taking).toEqual({ kind: 'driven' });
  expect(store.drives(jobId)).toBe(false);
});

it('what an earlier life owed the store is not shown by this one', async () => {
  const { store, self, job } = start();
  await store.admit(job);
  const sent = changeTo('DISPATCHED', { fence: { nodeId: 'node-1', attempt: 1 } });
  await store.move(job.jobId, expectedOf(job), sent, 'soon');
  expect(await store.get(job.jobId)).toMatchObject({ state: 'DISPATCHED' });
  self.incarnation = '2';
  expect(await store.get(job.jobId)).toEqual(job);
});

it('what is owed of a job is written although the job is taken over once more, by the same life', async () => {
  const { clock, store, self, job, written } = start();
  const { jobId, deadlineAt } = job;
  await store.takeOver({ jobId, deadlineAt }, { instanceId: 'dead' });
  const sent = changeTo('DISPATCHED', { fence: { nodeId: 'node-1', attempt: 1 } });
  await store.move(jobId, expectedOf(job), sent, 'soon');
  self.former = 'me/1';
  expect(await store.takeOver({ jobId, deadlineAt }, { instanceId: 'dead' })).toMatchObject({
    kind: 'taken',
  });
  expect(await store.get(jobId)).toMatchObject({ state: 'DISPATCHED' });
  await clock.advance(SOON_MS);
  expect(written).toEqual(['DISPATCHED']);
});
