/** An acknowledgement that is repeated while the job ends: the slot of an attempt that is over stays free. */
import { expect, it } from 'vitest';
import { createFaultyRig } from '../rigs/faulty-rig.ts';
import { RESULT, SETTINGS } from '../rigs/rig.ts';

it('a late acknowledgement takes no slot after the result', async () => {
  const { rig, store, ledger } = createFaultyRig();
  await rig.addNode('node-a');
  const { jobId } = await rig.dispatch();
  const answer = rig.last(jobId);
  // The driver abandons the attempt, so that its acknowledgement needs a commit, which comes late.
  await rig.clock.advance(SETTINGS.ackTimeoutMs);
  ledger.plan({ method: 'commit', at: [ledger.calls('commit') + 1], fault: { delayMs: 300 } });
  store.plan({ method: 'move', at: [store.calls('move') + 1], fault: { delayMs: 100 } });
  const first = rig.service.acknowledge(answer);
  const finished = rig.service.finish(answer, RESULT);
  const again = rig.service.acknowledge(answer);
  await rig.clock.advance(1_000);
  await again;
  expect([(await first).kind, (await finished).kind]).toEqual(['ignored', 'accepted']);
  expect([await rig.state(jobId), await rig.used('node-a')]).toEqual(['RELEASED', 0]);
});
