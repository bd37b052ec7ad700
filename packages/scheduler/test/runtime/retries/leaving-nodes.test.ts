/** Nodes that announce their end, such as machines that the cloud takes away. */
import { describe, expect, it } from 'vitest';
import { createRig, RESULT } from '../rigs/rig.ts';

const RETRIED = 'scheduler_retries_total{NODE_UNAVAILABLE}';

/** Two nodes, and what a job takes: a second. The job under test has run on `first` for `ranMs`. */
async function busyRig(ranMs = 0) {
  const rig = createRig();
  await rig.addNode('first', 4);
  for (let n = 0; n < 5; n += 1) {
    const { jobId } = await rig.dispatch();
    await rig.service.acknowledge(rig.last(jobId));
    await rig.clock.advance(1_000);
    await rig.service.finish(rig.last(jobId), RESULT);
  }
  const { jobId } = await rig.dispatch();
  await rig.service.acknowledge(rig.last(jobId));
  await rig.clock.advance(ranMs);
  await rig.addNode('second', 4);
  const leave = async (inMs: number | undefined) => {
    const view = rig.fleet.view('first');
    if (view === undefined) throw new Error('the node is gone');
    const leavingAt = inMs === undefined ? undefined : rig.clock.now() + inMs;
    rig.fleet.upsert({ ...view, health: inMs === undefined ? 'ready' : 'draining', leavingAt });
    await rig.clock.advance(1);
  };
  const retries = () => rig.counts.get(RETRIED) ?? 0;
  return { rig, jobId, leave, retries };
}

describe('a job on a node that will stop', () => {
  it('stays if it will have ended by then', async () => {
    const { rig, jobId, leave, retries } = await busyRig();
    await leave(1_500);
    expect([rig.last(jobId).nodeId, retries()]).toEqual(['first', 0]);
    await rig.clock.advance(900);
    await rig.service.finish(rig.last(jobId), RESULT);
    await rig.clock.advance(2_000);
    expect([await rig.state(jobId), retries()]).toEqual(['RELEASED', 0]);
  });

  it('moves at once if it will not, and the node that stops is told to cancel it', async () => {
    const { rig, jobId, leave, retries } = await busyRig(200);
    await leave(500);
    expect([rig.last(jobId), retries()]).toEqual([{ jobId, nodeId: 'second', attempt: 2 }, 1]);
    expect(rig.cancelled).toMatchObject([{ nodeId: 'first', jobId }]);
  });

  it('moves at the end of the node if it took longer than expected, and no later', async () => {
    const { rig, jobId, leave } = await busyRig();
    await leave(3_000);
    await rig.clock.advance(2_900);
    expect(rig.last(jobId).nodeId).toBe('first');
    await rig.clock.advance(200);
    expect(rig.last(jobId)).toMatchObject({ nodeId: 'second', attempt: 2 });
  });

  it('moves without waiting for the node to return, once its connection is lost', async () => {
    const { rig, jobId, leave } = await busyRig();
    await leave(30_000);
    rig.service.nodeLeft('first', 2_000);
    await rig.clock.advance(1);
    expect(rig.last(jobId)).toMatchObject({ nodeId: 'second', attempt: 2 });
  });

  it('stays if the node takes its announcement back', async () => {
    const { rig, jobId, leave, retries } = await busyRig();
    await leave(2_000);
    await leave(undefined);
    await rig.clock.advance(3_000);
    expect([rig.last(jobId).nodeId, retries()]).toEqual(['first', 0]);
  });

  it('is moved as often as needed: that is no failure of the job', async () => {
    const { rig, jobId, leave } = await busyRig(900);
    await leave(0);
    for (const [from, to] of [
      ['second', 'third'],
      ['third', 'fourth'],
      ['fourth', 'fifth'],
    ] as const) {
      await rig.addNode(to, 4);
      const view = rig.fleet.view(from);
      if (view !== undefined) rig.fleet.upsert({ ...view, health: 'draining', leavingAt: rig.clock.now() });
      await rig.clock.advance(200);
    }
    expect(rig.last(jobId)).toMatchObject({ nodeId: 'fifth', attempt: 5 });
    await rig.service.finish(rig.last(jobId), RESULT);
    expect(await rig.state(jobId)).toBe('RELEASED');
  });
});
