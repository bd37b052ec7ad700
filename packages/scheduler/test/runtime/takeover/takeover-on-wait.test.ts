/** A client waits for a job without a driver: a failover lost its outcome, and then its driver died. */
import { expect, it } from 'vitest';
import { createJobReader } from '../../../src/runtime/job-reader.ts';
import type { DriverClaim, JobDrivers } from '../../../src/runtime/takeover/job-drivers.ts';
import { RESULT } from '../rigs/rig.ts';
import { createInstances } from '../rigs/two-instances.ts';

const WAIT_MS = 2_000;

async function abandoned(claim: 'ours' | 'theirs' | 'down') {
  const claimed: string[] = [];
  const drivers: JobDrivers = {
    async claim({ jobId }): Promise<DriverClaim> {
      claimed.push(jobId);
      if (claim === 'down') throw new Error('down');
      if (claim === 'theirs') return { kind: 'theirs' };
      instances.drivers.assign(jobId, 'second');
      return { kind: 'ours', job: await instances.record(jobId) };
    },
    placingResult: async () => undefined,
    offerAudio() {},
  };
  const instances = createInstances({ drivers });
  const { first, second, addNode } = instances;
  await addNode('node-a');
  const { jobId } = await first.dispatch();
  first.service.dropAll();
  const { clock, store } = second;
  const reader = createJobReader({
    clock,
    store,
    events: NO_EVENTS,
    claimIfOrphaned: second.service.claimIfOrphaned,
  });
  const wait = async () => {
    const waiting = reader.settled(jobId, WAIT_MS);
    await first.clock.advance(WAIT_MS);
    return waiting;
  };
  return { ...instances, jobId, claimed, wait };
}

const NO_EVENTS = { publish() {}, subscribe: () => ({ kind: 'subscribed' as const, stop() {} }) };

it('takes over a job that a client waits for when its driver is gone', async () => {
  const { first, second, jobId, wait } = await abandoned('ours');
  expect(await wait()).toMatchObject({ state: 'RESERVED', intent: { nodeId: 'node-a' } });
  await first.clock.advance(1);
  expect(second.service.drives(jobId)).toBe(true);
  await second.service.finish({ jobId, nodeId: 'node-a', attempt: 1 }, RESULT);
  expect(await wait()).toMatchObject({ result: RESULT });
});

it.each(['theirs', 'down'] as const)(
  'leaves the job alone when its driver lives or is unknown (%s)',
  async (claim) => {
    const { first, second, jobId, claimed, wait } = await abandoned(claim);
    await wait();
    await first.clock.advance(1);
    expect(claimed).toEqual([jobId]);
    expect(second.service.drives(jobId)).toBe(false);
  },
);
