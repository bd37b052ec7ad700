/** While Redis is unavailable acknowledgements may be delayed, so the acknowledgement timeout is extended, within a limit. */
import { describe, expect, it } from 'vitest';
import { createRig, RESULT } from '../rigs/rig.ts';

async function createUnsteady() {
  const store = { isSteady: false };
  const rig = createRig({ isStoreSteady: () => store.isSteady });
  await rig.addNode('node-a');
  await rig.addNode('node-b');
  const job = await rig.dispatch();
  return { store, rig, job };
}

describe('a missing acknowledgement while the store is unsteady', () => {
  it('extends the timeout, and a late acknowledgement counts', async () => {
    const { store, rig, job } = await createUnsteady();
    await rig.clock.advance(5_000);
    store.isSteady = true;
    expect(rig.sent).toHaveLength(1);
    expect((await rig.service.acknowledge(rig.last(job.jobId))).kind).toBe('accepted');
    await rig.clock.advance(10_000);
    expect((await rig.service.finish(rig.last(job.jobId), RESULT)).kind).toBe('accepted');
    expect(rig.sent).toHaveLength(1);
  });

  it('abandons the attempt when the store is steady again', async () => {
    const { store, rig } = await createUnsteady();
    await rig.clock.advance(3_500);
    expect(rig.sent).toHaveLength(1);
    store.isSteady = true;
    await rig.clock.advance(3_000);
    expect(rig.sent).toHaveLength(2);
  });

  it('abandons the attempt after four times the timeout in any case', async () => {
    const { rig } = await createUnsteady();
    await rig.clock.advance(11_900);
    expect(rig.sent).toHaveLength(1);
    await rig.clock.advance(200);
    expect(rig.sent).toHaveLength(2);
  });
});
