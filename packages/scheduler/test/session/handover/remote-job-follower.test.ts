/** A job of another instance is followed by its record; if the record does not change, the job may have no driver. */
import { expect, it } from 'vitest';
import type { JobRecord } from '../../../src/domain/job.ts';
import { createRemoteJobFollower } from '../../../src/session/handover/remote-job-follower.ts';
import type { Utterance } from '../../../src/session/session.ts';
import { createManualClock } from '../../support/manual-clock.ts';

const READ_INTERVAL_MS = 1_000;

it('the driver is checked only for a job whose record does not change', async () => {
  const clock = createManualClock();
  const checked: string[] = [];
  const timeline: unknown[] = [{}];
  const follow = createRemoteJobFollower({
    clock,
    waitForRecordMs: 10_000,
    records: {
      get: async (jobId) => ({ jobId, state: 'RUNNING', timeline: [...timeline] }) as unknown as JobRecord,
    },
    events: { subscribe: () => ({ kind: 'subscribed', stop() {} }) },
    checkDriver: ({ jobId }) => void checked.push(jobId),
    isDispatching: () => false,
  });
  const utterance = { jobId: 'job-1', acceptance: 'admitted' } as Utterance;
  follow.follow(utterance, { onRecord() {}, onGone() {}, onMissing() {} });
  await clock.advance(1);
  timeline.push({});
  await clock.advance(READ_INTERVAL_MS);
  expect(checked).toEqual([]);
  await clock.advance(READ_INTERVAL_MS);
  expect(checked).toEqual(['job-1']);
  follow.stop(utterance);
  await clock.advance(10 * READ_INTERVAL_MS);
  expect(checked).toEqual(['job-1']);
});
