/** I2: an attempt that was given up while the store was away is marked as soon as it answers, or its slot would be taken until the lease ends. */
import { expect, it } from 'vitest';
import { createRig } from './rig.ts';

async function loseNode(failures: number) {
  let asked = 0;
  const rig = createRig({
    wrapLedger: (ledger) => ({
      ...ledger,
      fence(nodeId, lease) {
        asked += 1;
        if (asked <= failures) return Promise.reject(new Error('the store is away'));
        return ledger.fence(nodeId, lease);
      },
    }),
  });
  await rig.addNode('node-a');
  const { jobId } = await rig.dispatch();
  await rig.service.acknowledge(rig.last(jobId));
  rig.service.nodeLeft('node-a', 0);
  await rig.clock.advance(100);
  return { rig, times: () => asked };
}

it('is asked for again every second until it is answered, and then no more', async () => {
  const { rig, times } = await loseNode(3);
  expect(times()).toBe(1);
  await rig.clock.advance(2_500);
  expect(times()).toBe(3);
  await rig.clock.advance(30_000);
  expect(times()).toBe(4);
});

it('is given up when the lease must have ended', async () => {
  const { rig, times } = await loseNode(Number.POSITIVE_INFINITY);
  await rig.clock.advance(600_000);
  const most = times();
  expect(most).toBeGreaterThan(5);
  await rig.clock.advance(600_000);
  expect(times()).toBe(most);
});
