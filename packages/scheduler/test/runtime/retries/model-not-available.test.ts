/** MODEL_NOT_AVAILABLE in the engine: the job goes to another node, and the node is marked but not blamed. */
import { describe, expect, it } from 'vitest';
import { createFaultyRig } from '../rigs/faulty-rig.ts';
import { createRig } from '../rigs/rig.ts';

const LACK = {
  code: 'MODEL_NOT_AVAILABLE',
  message: 'not loaded',
  details: { service_id: 'm2m', service_version: '1', reason: 'not_found' },
};

type Rig = ReturnType<typeof createRig>;

function mark(rig: Rig, ...nodeIds: string[]): void {
  for (const nodeId of nodeIds) {
    const view = rig.fleet.view(nodeId);
    if (view === undefined) throw new Error(`${nodeId} is unknown`);
    rig.fleet.upsert({ ...view, markedServices: ['m2m'], markedTypes: ['nmt'] });
  }
}

function unmark(rig: Rig, nodeId: string): void {
  const view = rig.fleet.view(nodeId);
  if (view !== undefined) rig.fleet.upsert({ ...view, markedServices: [], markedTypes: [] });
}

describe('MODEL_NOT_AVAILABLE: the failed job', () => {
  it('is tried once on every other node', async () => {
    const rig = createRig();
    for (const nodeId of ['a', 'b', 'c']) await rig.addNode(nodeId, 2);
    const { jobId } = await rig.dispatch();
    const tried = [rig.last(jobId).nodeId];
    for (let round = 0; round < 2; round += 1) {
      await rig.service.fail(rig.last(jobId), LACK);
      tried.push(rig.last(jobId).nodeId);
    }
    expect(tried.toSorted()).toEqual(['a', 'b', 'c']);
    await rig.service.finish(rig.last(jobId), {
      textAsr: 'hello',
      textTranslated: '你好',
      ttsAudio: '',
      ttsFormat: '',
    });
    expect(await rig.state(jobId)).toBe('RELEASED');
    // The two are reported separately: a node that lacks one model is not a failing node.
    expect(rig.outcomes.map(({ outcome }) => outcome)).toEqual(['succeeded']);
  });

  it('avoids a marked node until its mark ends', async () => {
    const rig = createRig();
    for (const nodeId of ['a', 'b']) await rig.addNode(nodeId, 2);
    const { jobId } = await rig.dispatch();
    const first = rig.last(jobId).nodeId;
    const other = first === 'a' ? 'b' : 'a';
    mark(rig, other);
    await rig.service.fail(rig.last(jobId), LACK);
    expect(rig.last(jobId).nodeId).toBe(first);
    unmark(rig, other);
    await rig.clock.advance(1);
    expect(rig.last(jobId)).toMatchObject({ nodeId: other, attempt: 2 });
  });

  it('fails and names the marks when no mark ends in time', async () => {
    const rig = createRig();
    for (const nodeId of ['a', 'b']) await rig.addNode(nodeId, 2);
    const { jobId } = await rig.dispatch();
    mark(rig, rig.last(jobId).nodeId === 'a' ? 'b' : 'a');
    await rig.service.fail(rig.last(jobId), LACK);
    await rig.clock.advance(60_000);
    const job = await rig.store.get(jobId);
    expect(job?.failure?.code).toBe('MODEL_NOT_AVAILABLE');
    expect(job?.failure?.message).toBe(
      'not loaded; 1 node that could take it is left out for having reported a missing model: m2m',
    );
    expect(rig.counts.get('scheduler_model_na_last_candidate_total')).toBe(1);
  });

  it.each([0, 100])('fails at its deadline and names the marks once (write takes %i ms)', async (delayMs) => {
    const { rig, store } = createFaultyRig();
    for (const nodeId of ['a', 'b']) await rig.addNode(nodeId, 2);
    const { jobId } = await rig.dispatch();
    const { nodeId } = rig.last(jobId);
    mark(rig, nodeId === 'a' ? 'b' : 'a');
    rig.service.nodeLeft(nodeId, 0);
    await rig.clock.advance(1_000);
    if (delayMs > 0) store.plan({ method: 'move', fault: { delayMs } });
    await rig.clock.advance(200_000);
    const words = '1 node that could take it is left out for having reported a missing model: m2m';
    expect((await rig.store.get(jobId))?.failure?.message).toBe(`the node disconnected; ${words}`);
    expect(rig.counts.get('scheduler_model_na_last_candidate_total')).toBe(1);
  });
});

describe('MODEL_NOT_AVAILABLE: a new job', () => {
  it('avoids marked nodes', async () => {
    const rig = createRig();
    for (const nodeId of ['a', 'b', 'c']) await rig.addNode(nodeId, 10);
    mark(rig, 'a', 'c');
    for (let round = 0; round < 10; round += 1) {
      const { jobId } = await rig.dispatch();
      expect(rig.last(jobId).nodeId).toBe('b');
    }
  });

  it('is refused with the mark as reason when only marked nodes remain', async () => {
    const rig = createRig();
    for (const nodeId of ['a', 'b']) await rig.addNode(nodeId, 1);
    mark(rig, 'a', 'b');
    const refused = rig.refusal(await rig.service.dispatch(rig.request()));
    expect(refused).toMatchObject({ code: 'ALL_CANDIDATES_FULL_OR_FAILED' });
    expect(refused.message).toContain(
      '2 nodes that could take it are left out for having reported a missing model: m2m',
    );
    expect(rig.counts.get('scheduler_no_available_node_total{types,model_not_available}')).toBe(1);
    expect(rig.counts.get('scheduler_model_na_last_candidate_total')).toBe(1);
  });

  it('is refused with the mark of the node it requires', async () => {
    const rig = createRig();
    for (const nodeId of ['a', 'b']) await rig.addNode(nodeId, 1);
    mark(rig, 'a');
    const request = rig.request();
    const insisting = { ...request, need: { ...request.need, preferredNodeId: 'a', isStrict: true } };
    const refused = rig.refusal(await rig.service.dispatch(insisting));
    expect(refused.code).toBe('ALL_CANDIDATES_FULL_OR_FAILED');
    expect(refused.message).toContain('reported a missing model: m2m');
    expect(rig.counts.get('scheduler_model_na_last_candidate_total')).toBe(1);
  });

  it('waits for the end of a mark', async () => {
    const rig = createRig();
    await rig.addNode('a', 1);
    mark(rig, 'a');
    const dispatching = rig.dispatch({ waitMs: 5_000 });
    await rig.clock.advance(1_000);
    expect(rig.sent).toEqual([]);
    unmark(rig, 'a');
    expect((await dispatching).fence?.nodeId ?? rig.sent[0]?.nodeId).toBe('a');
  });
});
