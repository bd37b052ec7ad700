/** Reports may arrive twice: the connection broke before the node received the acknowledgement of its report. */
import { describe, expect, it } from 'vitest';
import { createRig, RESULT } from '../rigs/rig.ts';

const UNTRANSLATED = { ...RESULT, textTranslated: '' };

describe('a result without a translation', () => {
  it('a repeated result does not end a job that is being retried', async () => {
    const rig = createRig();
    await rig.addNode('node-a');
    await rig.addNode('node-full', 0);
    const { jobId } = await rig.dispatch();
    const first = rig.last(jobId);
    await rig.service.finish(first, UNTRANSLATED);
    expect((await rig.service.finish(first, UNTRANSLATED)).kind).toBe('ignored');
    await rig.addNode('node-b');
    await rig.clock.advance(300);
    expect(rig.last(jobId)).toMatchObject({ nodeId: 'node-b', attempt: 2 });
    await rig.service.finish(rig.last(jobId), RESULT);
    expect(await rig.store.get(jobId)).toMatchObject({ state: 'RELEASED', result: RESULT });
  });

  it('settles the job when no other node is found', async () => {
    const rig = createRig();
    await rig.addNode('node-a');
    const { jobId } = await rig.dispatch();
    const first = rig.last(jobId);
    for (let times = 0; times < 2; times += 1) await rig.service.finish(first, UNTRANSLATED);
    await rig.clock.advance(90_100);
    expect(await rig.store.get(jobId)).toMatchObject({ state: 'RELEASED', result: UNTRANSLATED });
  });

  it('settles a job whose attempt was abandoned before', async () => {
    const rig = createRig();
    await rig.addNode('node-a');
    const { jobId } = await rig.dispatch();
    await rig.clock.advance(3_100);
    expect(await rig.state(jobId)).toBe('RETRYING');
    expect((await rig.service.finish(rig.last(jobId), UNTRANSLATED)).kind).toBe('accepted');
    expect(await rig.store.get(jobId)).toMatchObject({ state: 'RELEASED', result: UNTRANSLATED });
    expect(await rig.used('node-a')).toBe(0);
  });
});
