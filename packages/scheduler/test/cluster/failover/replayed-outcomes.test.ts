/** Outcomes of a moment ago are told again like jobs in flight, but nobody holds a slot for them any more. */
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

it.each([true, false])(
  'tells of settled jobs, and of no slot of theirs (in flight: %s)',
  async (isInFlight) => {
    const told: string[] = [];
    const failoverReplay = createFailoverReplay({
      jobs: () => [jobIn('RUNNING'), jobIn('FINISHED'), jobIn('FAILED'), jobIn('RELEASED')],
      isInFlight: (jobId) => jobId === 'RUNNING' || isInFlight,
      isGivenUp: () => false,
      async abandon() {},
      holdsSlot: (jobId) => jobId === 'RUNNING' || isInFlight,
      async restore({ jobId }) {
        told.push(jobId);
      },
      async reassert(_, lease) {
        told.push(lease);
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
    expect(told).toEqual(['RUNNING:1', 'RUNNING', 'FINISHED', 'FAILED', 'RELEASED']);
  },
);
