/** Texts that a node tells before its job is done: only those of the current attempt count (I4), and they change nothing in the record. */
import { expect, it } from 'vitest';
import { createRig, RESULT } from '../rigs/rig.ts';

const HELLO = { textAsr: 'hello', textTranslated: '你好' };

async function running() {
  const rig = createRig();
  await rig.addNode('node-a');
  const { jobId } = await rig.dispatch();
  await rig.service.acknowledge(rig.last(jobId));
  return { rig, jobId };
}

it('a text of the current attempt is passed on, and the record stays as it is', async () => {
  const { rig, jobId } = await running();
  const before = await rig.store.get(jobId);
  expect((await rig.service.tell(rig.last(jobId), HELLO)).kind).toBe('accepted');
  expect(rig.told).toEqual([`${jobId} 你好`]);
  expect(await rig.store.get(jobId)).toEqual(before);
});

it('a text of another node or attempt changes nothing, and is counted', async () => {
  const { rig, jobId } = await running();
  const now = rig.last(jobId);
  for (const other of [
    { ...now, nodeId: 'node-b' },
    { ...now, attempt: 2 },
  ])
    expect(await rig.service.tell(other, HELLO)).toEqual({ kind: 'ignored', reason: 'fenced' });
  expect(rig.told).toEqual([]);
  expect(rig.counts.get('scheduler_fenced_total{text}')).toBe(2);
});

it('a text after the outcome changes nothing', async () => {
  const { rig, jobId } = await running();
  const now = rig.last(jobId);
  await rig.service.finish(now, RESULT);
  expect(await rig.service.tell(now, HELLO)).toEqual({ kind: 'ignored', reason: 'settled' });
  expect(rig.told).toEqual([]);
});
