/** An acknowledgement that comes again while the job is being ended: the slot of an attempt that is over stays free. */
import { expect, it } from 'vitest';
import { createFaultyRig } from './faulty-rig.ts';
import { RESULT } from './rig.ts';

it('does not bring a slot back that the result has given back', async () => {
  const { rig, store, ledger } = createFaultyRig();
  await rig.addNode('node-a');
  const { jobId } = await rig.dispatch();
  const answer = rig.last(jobId);
  // Sent to a master that is none any more, it comes late.
  ledger.plan({ method: 'commit', at: [1], fault: { delayMs: 300 } });
  store.plan({ method: 'move', at: [store.calls('move') + 1], fault: { delayMs: 100 } });
  const first = rig.service.acknowledge(answer);
  const finished = rig.service.finish(answer, RESULT);
  const again = rig.service.acknowledge(answer);
  await rig.clock.advance(1_000);
  await again;
  expect([(await first).kind, (await finished).kind]).toEqual(['ignored', 'accepted']);
  expect([await rig.state(jobId), await rig.used('node-a')]).toEqual(['RELEASED', 0]);
});
