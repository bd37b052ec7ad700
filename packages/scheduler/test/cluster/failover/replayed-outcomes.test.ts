/** Recent outcomes are written again like jobs in flight, without a lease. */
import { expect, it } from 'vitest';
import { createFailoverReplay, EVERYTHING } from '../../../src/cluster/recovery/failover-replay.ts';
import type { JobRecord, JobState } from '../../../src/domain/job.ts';
import { draftJob } from '../../contracts/job-draft.ts';
import { createManualClock } from '../../support/manual-clock.ts';
import { createTally, QUIET } from '../messaging/message-bus-rig.ts';

const jobIn = (state: JobState): JobRecord => ({
  ...draftJob(0),
  jobId: state,
  state,
  fence: { nodeId: 'node-a', attempt: 1 },
});

it.each([true, false])('writes settled jobs again, without a lease (in flight: %s)', async (isInFlight) => {
  const written: string[] = [];
  const failoverReplay = createFailoverReplay({
    jobs: () => [jobIn('RUNNING'), jobIn('FINISHED'), jobIn('FAILED'), jobIn('RELEASED')],
    isInFlight: (jobId) => jobId === 'RUNNING' || isInFlight,
    isGivenUp: () => false,
    async abandon() {},
    holdsSlot: (jobId) => jobId === 'RUNNING' || isInFlight,
    async restore({ jobId }) {
      written.push(jobId);
    },
    async reassert(_, lease) {
      written.push(lease);
    },
    abandoned: () => [],
    released: () => [],
    async release() {},
    others() {},
    clock: createManualClock(),
    leaseLeftMs: () => 65_000,
    log: QUIET,
    meter: createTally().meter,
  });
  await failoverReplay.run(EVERYTHING);
  expect(written).toEqual(['RUNNING:1', 'RUNNING', 'FINISHED', 'FAILED', 'RELEASED']);
});
