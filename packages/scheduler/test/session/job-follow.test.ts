/** A job that another instance drives is followed by its record; one that does not move has perhaps nobody who drives it. */
import { expect, it } from 'vitest';
import type { JobRecord } from '../../src/domain/job.ts';
import { createRemoteJobFollower } from '../../src/session/handover/remote-job-follower.ts';
import type { Utterance } from '../../src/session/session.ts';
import { createManualClock } from '../support/manual-clock.ts';

const LOOK_MS = 1_000;

it('asks who drives a job whose record did not change between two looks, and only then', async () => {
  const clock = createManualClock();
  const asked: string[] = [];
  const timeline: unknown[] = [{}];
  const follow = createRemoteJobFollower({
    clock,
    waitForRecordMs: 10_000,
    records: {
      get: async (jobId) => ({ jobId, state: 'RUNNING', timeline: [...timeline] }) as unknown as JobRecord,
    },
    events: { subscribe: () => ({ kind: 'subscribed', stop() {} }) },
    checkDriver: ({ jobId }) => void asked.push(jobId),
    isDispatching: () => false,
  });
  const utterance = { jobId: 'job-1', acceptance: 'admitted' } as Utterance;
  follow.follow(utterance, { onRecord() {}, onGone() {}, onMissing() {} });
  await clock.advance(1);
  timeline.push({});
  await clock.advance(LOOK_MS);
  expect(asked).toEqual([]);
  await clock.advance(LOOK_MS);
  expect(asked).toEqual(['job-1']);
  follow.stop(utterance);
  await clock.advance(10 * LOOK_MS);
  expect(asked).toEqual(['job-1']);
});
