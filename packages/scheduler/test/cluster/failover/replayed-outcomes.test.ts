/** After a failover settled jobs are written again like jobs in flight, but without a lease. */
import { expect, it } from 'vitest';
import { EVERYTHING } from '../../../src/cluster/recovery/failover-replay.ts';
import type { JobState } from '../../../src/domain/job.ts';
import { jobNamed, LEFT_MS, NOTHING, start } from './failover-replay-rig.ts';

const jobIn = (state: JobState) => jobNamed(state, { state, fence: { nodeId: 'n1', attempt: 1 } });

it('writes settled jobs again, without a lease', async () => {
  const { failoverReplay, written } = start([
    jobIn('RUNNING'),
    jobIn('FINISHED'),
    jobIn('FAILED'),
    jobIn('RELEASED'),
  ]);
  await failoverReplay.run(EVERYTHING);
  expect(written).toEqual(['others', `n1 RUNNING:1 ${LEFT_MS}`, 'RUNNING', 'FINISHED', 'FAILED', 'RELEASED']);
});

it('counts again what settled jobs of affected tenants have used', async () => {
  const used = (tenantId: string, state: JobState) => ({
    ...jobIn(state),
    tenantId,
    usage: { at: 1, stages: [] },
  });
  const { failoverReplay, written } = start([
    used('one', 'RELEASED'),
    used('other', 'FINISHED'),
    jobIn('FAILED'),
  ]);
  await failoverReplay.run({ ...NOTHING, usage: (tenantId) => tenantId === 'one' });
  expect(written).toEqual(['others', 'one used RELEASED']);
});
