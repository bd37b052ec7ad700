/** Late answers of the store: by then a job may be settled, or this instance may be a new incarnation. */
import { expect, it } from 'vitest';
import type { IndexScripts, RecordScripts, StoredJob } from '../../src/adapters/shared-jobs/job-scripts.ts';
import { createJobStore } from '../../src/adapters/shared-jobs/job-store.ts';
import { changeJob } from '../../src/domain/job-change.ts';
import { changeTo, draftJob, expectedOf } from '../contracts/job-draft.ts';
import { createManualClock } from '../support/manual-clock.ts';
import { ROOMY } from '../support/redis-jobs.ts';

const FAILED = changeTo('FAILED', { failure: { code: 'JOB_TIMEOUT', message: 'no answer' } });

/** A store whose answers a test can delay. */
function start() {
  const clock = createManualClock();
  const self = { incarnation: '1', former: 'dead/1', isHeldAtLast: false };
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
    takeOver: () => answer({ kind: 'taken', stored, ttlMs: Number.POSITIVE_INFINITY, former: self.former }),
    move: async (_driver, _jobId, _expected, change) => {
      const record = changeJob(job, change);
      return { kind: 'moved', record, revision: record.timeline.length, bytes: 0, watchers: [] };
    },
  } as Partial<RecordScripts> as RecordScripts;
  const indexes = {
    note: () => answer(undefined),
    // The last call of a takeover.
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
    holdUp() {
      isHeld = true;
    },
    async answerNow() {
      isHeld = false;
      for (const reply of waiting.splice(0)) reply();
      await clock.advance(0);
    },
    /** The instance was declared dead, and has noticed. */
    beReborn() {
      self.incarnation = '2';
      store.drives(job.jobId);
    },
  };
}

it('a job that is settled during its restore is not driven here', async () => {
  const { store, job, holdUp, answerNow } = start();
  await store.admit(job);
  holdUp();
  const restoring = store.restore(job);
  await store.move(job.jobId, expectedOf(job), FAILED);
  await answerNow();
  expect(await restoring).toBe('restored');
  expect(store.drives(job.jobId)).toBe(false);
});

it('a job restored by an earlier incarnation is not driven by this one', async () => {
  const { store, job, holdUp, answerNow, beReborn } = start();
  await store.admit(job);
  holdUp();
  const restoring = store.restore(job);
  beReborn();
  await answerNow();
  await restoring;
  expect(store.drives(job.jobId)).toBe(false);
});

it('I4 fencing: a takeover by an earlier incarnation does not count for this one', async () => {
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

it('I4 fencing: a takeover that ends in a new incarnation does not count', async () => {
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
