/** A holder reports that the node of an attempt ended it without a result. */
import { describe, expect, it } from 'vitest';
import { NO_RESULT } from '../../../src/domain/failure.ts';
import { createRig, legacyProfile, RESULT } from '../rigs/rig.ts';

describe('an attempt that its node ended without a result', () => {
  it('ends the job of a legacy node, releases the lease and is not retried', async () => {
    const rig = createRig();
    for (const node of ['node-a', 'node-b']) await rig.addNode(node, 1, legacyProfile());
    const { jobId } = await rig.dispatch();
    const first = rig.last(jobId);
    await rig.service.fail(first, NO_RESULT);
    expect(await rig.store.get(jobId)).toMatchObject({ state: 'RELEASED', failure: { code: 'NO_RESULT' } });
    expect(rig.last(jobId)).toEqual(first);
    expect(await rig.used(first.nodeId)).toBe(0);
    expect((await rig.service.finish(first, RESULT)).kind).toBe('ignored');
  });

  it('is retried if the node acknowledges jobs', async () => {
    const rig = createRig();
    for (const node of ['node-a', 'node-b']) await rig.addNode(node);
    const { jobId } = await rig.dispatch();
    const first = rig.last(jobId);
    await rig.service.acknowledge(first);
    await rig.service.fail(first, NO_RESULT);
    expect(rig.last(jobId)).toMatchObject({ attempt: 2 });
    expect(rig.last(jobId).nodeId).not.toBe(first.nodeId);
    expect(await rig.used(first.nodeId)).toBe(0);
  });
});
