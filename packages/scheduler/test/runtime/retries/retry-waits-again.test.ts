/** A job that waits for a node, gets one that fails, and waits again: the second wait has its own limit. */
import { describe, expect, it } from 'vitest';
import { createFaultyRig } from '../rigs/faulty-rig.ts';
import { RESULT, SETTINGS } from '../rigs/rig.ts';

const SILENT = { kind: 'unknown', reason: 'holder_silent' } as const;
const FAILURE = { code: 'PROCESSING_ERROR', message: 'boom' };
const UNTRANSLATED = { ...RESULT, textTranslated: '' };
const SLOW_MS = 200;

/**
 * The first result is kept as the fallback. The second node has the job before its delivery has a reply, and fails it
 * while a slot is being reserved on a third node, which is full.
 */
async function failedMeanwhile(waitedMs: number) {
  const { rig, ledger } = createFaultyRig();
  await rig.addNode('node-a');
  // A node that may become free: otherwise the fallback would be delivered at once.
  await rig.addNode('node-full', 0);
  const { jobId } = await rig.dispatch();
  await rig.service.finish(rig.last(jobId), UNTRANSLATED);
  expect([await rig.state(jobId), rig.service.waiting()]).toEqual(['RETRYING', 1]);
  await rig.clock.advance(waitedMs);

  rig.onDelivery('node-b', async () => {
    await rig.addNode('node-c');
    await rig.ledger.reserve('node-c', 'other:1', 60_000);
    return SILENT;
  });
  // The second reserve after this one is for the third node.
  ledger.plan(
    { method: 'reserve', at: [ledger.calls('reserve') + 2], fault: { delayMs: SLOW_MS } },
    { method: 'release', fault: { delayMs: 2 * SLOW_MS } },
  );
  await rig.addNode('node-b');
  await rig.clock.advance(10);
  const failed = rig.service.fail({ nodeId: 'node-b', jobId, attempt: 2 }, FAILURE);
  await rig.clock.advance(3 * SLOW_MS);
  expect((await failed).kind).toBe('accepted');
  ledger.heal();
  return { rig, jobId };
}

describe('a job whose second node failed while a third was tried', () => {
  it('waits once, and not at all after a cancel', async () => {
    const { rig, jobId } = await failedMeanwhile(SETTINGS.pendingTimeoutMs / 2);
    expect([await rig.state(jobId), rig.service.waiting()]).toEqual(['RETRYING', 1]);
    await rig.service.cancel(jobId, 'no longer wanted');
    expect(rig.service.waiting()).toBe(0);
  });

  it.each([
    ['before', SETTINGS.pendingTimeoutMs / 2],
    ['while', SETTINGS.pendingTimeoutMs - SLOW_MS / 2],
  ])('a failure %s the first wait ends starts a new wait', async (_, waitedMs) => {
    const { rig, jobId } = await failedMeanwhile(waitedMs);
    await rig.clock.advance(SETTINGS.pendingTimeoutMs - 4 * SLOW_MS);
    expect(await rig.state(jobId)).toBe('RETRYING');
    await rig.addNode('node-d');
    await rig.clock.advance(SLOW_MS);
    expect(rig.last(jobId)).toMatchObject({ nodeId: 'node-d', attempt: 3 });
    await rig.service.finish(rig.last(jobId), RESULT);
    expect((await rig.store.get(jobId))?.result).toEqual(RESULT);
  });
});
