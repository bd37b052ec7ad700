/** How late reports arrive after the end of their attempt or job. */
import { describe, expect, it } from 'vitest';
import { createRig, RESULT, SETTINGS } from '../rigs/rig.ts';

const LATE = 'scheduler_late_report_seconds';

describe('a late report', () => {
  it('is measured from the end of its attempt', async () => {
    const rig = createRig();
    await rig.addNode('node-a');
    await rig.addNode('node-b');
    const job = await rig.dispatch();
    const first = rig.last(job.jobId);
    await rig.clock.advance(SETTINGS.ackTimeoutMs + 40);
    expect(rig.last(job.jobId).attempt).toBe(2);
    const abandonedAt = (await rig.store.get(job.jobId))?.timeline.find(
      ({ state }) => state === 'RETRYING',
    )?.at;
    await rig.clock.advance(250);
    expect((await rig.service.acknowledge(first)).kind).toBe('ignored');
    expect(rig.observed(LATE, 'ack')).toEqual([rig.clock.now() - (abandonedAt ?? 0)]);
    expect((await rig.service.finish(first, RESULT)).kind).toBe('ignored');
    expect(rig.observed(LATE, 'result')).toHaveLength(1);
    expect(rig.counts.get('scheduler_fenced_total{ack}')).toBe(1);
  });

  it('is measured from the outcome of its job', async () => {
    const rig = createRig();
    await rig.addNode('node-a');
    const job = await rig.dispatch();
    const answer = rig.last(job.jobId);
    await rig.service.finish(answer, RESULT);
    await rig.clock.advance(1_500);
    await rig.service.fail(answer, { code: 'PROCESSING_ERROR', message: 'again' });
    expect(rig.observed(LATE, 'failure')).toEqual([1_500]);
  });

  it('of an unknown job or node is only counted', async () => {
    const rig = createRig();
    await rig.addNode('node-a');
    const job = await rig.dispatch();
    await rig.service.finish({ jobId: 'job-unheard', nodeId: 'node-a', attempt: 1 }, RESULT);
    await rig.service.finish({ jobId: job.jobId, nodeId: 'node-x', attempt: 7 }, RESULT);
    expect(rig.observed(LATE)).toEqual([]);
    expect(rig.counts.get('scheduler_fenced_total{result}')).toBe(2);
  });
});
