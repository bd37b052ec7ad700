/** What the holder of a node has counted of an attempt: its driver does not say it once more, and says all that it judges otherwise. */
import { expect, it } from 'vitest';
import { createRig, RESULT } from './rig.ts';

const HELD_ELSEWHERE = { kind: 'written', generation: 1 } as const;

async function start(isCounted: boolean) {
  const rig = createRig();
  await rig.addNode('node-a');
  rig.onDelivery('node-a', async () => (isCounted ? { ...HELD_ELSEWHERE, isCounted } : HELD_ELSEWHERE));
  const job = await rig.dispatch();
  const answer = { jobId: job.jobId, nodeId: 'node-a', attempt: 1 };
  await rig.service.acknowledge(answer);
  return { rig, answer };
}

it('an attempt that its holder counted as placed, and then as a success, is not told to it', async () => {
  const { rig, answer } = await start(true);
  expect((await rig.service.finish({ ...answer, isCounted: true }, RESULT)).kind).toBe('accepted');
  expect([rig.placements, rig.outcomes]).toEqual([[], []]);
});

it('an attempt that nobody else counted is', async () => {
  const { rig, answer } = await start(false);
  await rig.service.finish(answer, RESULT);
  expect(rig.placements).toEqual(['node-a']);
  expect(rig.outcomes).toEqual([{ nodeId: 'node-a', outcome: 'succeeded' }]);
});

it('what failed is told, whoever counted that it was placed', async () => {
  const { rig, answer } = await start(true);
  await rig.service.fail(answer, { code: 'PROCESSING_ERROR', message: 'no' });
  expect([rig.placements, rig.outcomes]).toEqual([[], [{ nodeId: 'node-a', outcome: 'failed' }]]);
});
