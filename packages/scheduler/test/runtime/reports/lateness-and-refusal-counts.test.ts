/** By how much answers come too late, and what refusals are counted under. */
import { describe, expect, it } from 'vitest';
import { createRig, need, RESULT, SETTINGS } from '../rigs/rig.ts';

const LATE = 'scheduler_late_report_seconds';

describe('a late answer', () => {
  it('is measured from the end of its attempt: its job went on elsewhere', async () => {
    const rig = createRig();
    await rig.addNode('node-a');
    await rig.addNode('node-b');
    const job = await rig.dispatch();
    const first = rig.last(job.jobId);
    await rig.clock.advance(SETTINGS.ackTimeoutMs + 40);
    expect(rig.last(job.jobId).attempt).toBe(2);
    const givenUpAt = (await rig.store.get(job.jobId))?.timeline.find(
      ({ state }) => state === 'RETRYING',
    )?.at;
    await rig.clock.advance(250);
    expect((await rig.service.acknowledge(first)).kind).toBe('ignored');
    expect(rig.observed(LATE, 'ack')).toEqual([rig.clock.now() - (givenUpAt ?? 0)]);
    expect((await rig.service.finish(first, RESULT)).kind).toBe('ignored');
    expect(rig.observed(LATE, 'result')).toHaveLength(1);
    expect(rig.counts.get('scheduler_fenced_total{ack}')).toBe(1);
  });

  it('is measured from the outcome of its job when that is over', async () => {
    const rig = createRig();
    await rig.addNode('node-a');
    const job = await rig.dispatch();
    const answer = rig.last(job.jobId);
    await rig.service.finish(answer, RESULT);
    await rig.clock.advance(1_500);
    await rig.service.fail(answer, { code: 'PROCESSING_ERROR', message: 'again' });
    expect(rig.observed(LATE, 'failure')).toEqual([1_500]);
  });

  it('of a job nobody knows, or to a node that never had it, is only counted', async () => {
    const rig = createRig();
    await rig.addNode('node-a');
    const job = await rig.dispatch();
    await rig.service.finish({ jobId: 'job-unheard', nodeId: 'node-a', attempt: 1 }, RESULT);
    await rig.service.finish({ jobId: job.jobId, nodeId: 'node-x', attempt: 7 }, RESULT);
    expect(rig.observed(LATE)).toEqual([]);
    expect(rig.counts.get('scheduler_fenced_total{result}')).toBe(2);
  });
});

describe('a refusal for want of a node', () => {
  const selectors = (rig: ReturnType<typeof createRig>) =>
    [...rig.counts.keys()].filter((name) => name.startsWith('scheduler_no_available_node_total'));

  it('says what could not be satisfied: types, services by name, features, or candidates without a slot', async () => {
    const rig = createRig();
    await rig.addNode('node-a');
    const refuse = async (wish: Partial<ReturnType<typeof need>>) =>
      rig.refusal(await rig.service.dispatch(rig.request({ need: need(wish) })));
    await refuse({ directions: [{ source: 'xx', target: 'zh' }] });
    expect(selectors(rig).at(-1)).toMatch(/\{types,/);
    await refuse({ services: ['voice-9'] });
    expect(selectors(rig).at(-1)).toBe('scheduler_no_available_node_total{models,service_not_installed}');
    await refuse({ features: ['emotion_detection'] });
    expect(selectors(rig).at(-1)).toMatch(/\{features,/);
  });

  it('is a matter of reserving when there were candidates and the ledger had no slot', async () => {
    const rig = createRig();
    await rig.addNode('node-a');
    await rig.ledger.reserve('node-a', 'taken:1', 60_000);
    rig.refusal(await rig.service.dispatch(rig.request()));
    expect(selectors(rig)).toEqual(['scheduler_no_available_node_total{reserve,capacity_exceeded}']);
  });

  it('adds up which reason kept how many nodes from it, and remembers some of the last', async () => {
    const rig = createRig();
    for (let at = 0; at < 7; at += 1) await rig.addNode(`node-${at}`, 1);
    for (let at = 0; at < 7; at += 1) {
      await rig.ledger.reserve(`node-${at}`, `taken-${at}:1`, 60_000);
      rig.fleet.setLoad(`node-${at}`, { used: 1, max: 1 });
    }
    for (let at = 0; at < 3; at += 1) rig.refusal(await rig.service.dispatch(rig.request()));
    expect(rig.counts.get('scheduler_dispatch_excluded_total{capacity_exceeded}')).toBe(21);
    const samples = rig.service.excluded().get('capacity_exceeded');
    expect(samples).toHaveLength(5);
    expect(samples?.every((nodeId) => /^node-[0-6]$/.test(nodeId))).toBe(true);
  });
});
