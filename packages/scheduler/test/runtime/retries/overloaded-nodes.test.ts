/** A node that rejects a job because it is full is skipped for a short time, whatever the ledger says. */
import { describe, expect, it } from 'vitest';
import { OVERLOAD_PAUSE_MS } from '../../../src/runtime/attempts/overloaded-nodes.ts';
import { createRig, type Rig } from '../rigs/rig.ts';

const FULL = { code: 'NODE_OVERLOADED', message: 'busy', details: { running: 4, max: 4 } } as const;

/** The first node rejected the job as overloaded. */
async function startTurnedAway(nodes: readonly string[]): Promise<{ rig: Rig; jobId: string; by: string }> {
  const rig = createRig({ settings: { maxRetry: 0 } });
  for (const nodeId of nodes) await rig.addNode(nodeId, 4);
  const { jobId } = await rig.dispatch();
  const first = rig.last(jobId);
  await rig.service.fail(first, FULL);
  return { rig, jobId, by: first.nodeId };
}

describe('NODE_OVERLOADED', () => {
  it('sends the job to the next node without counting a retry', async () => {
    const { rig, jobId, by } = await startTurnedAway(['node-a', 'node-b']);
    expect(rig.last(jobId).nodeId).not.toBe(by);
    expect(rig.outcomes).toEqual([{ nodeId: by, outcome: 'unproven' }]);
  });

  it('skips the node for a limited time although slots are free', async () => {
    const { rig, by } = await startTurnedAway(['node-a', 'node-b']);
    const other = by === 'node-a' ? 'node-b' : 'node-a';
    rig.fleet.setLoad(by, { used: 0, max: 4 });
    for (let i = 0; i < 3; i++) expect((await rig.dispatch()).fence?.nodeId).toBe(other);
    const waiting = rig.dispatch({ waitMs: 4 * OVERLOAD_PAUSE_MS });
    await rig.clock.advance(OVERLOAD_PAUSE_MS - 1);
    expect(rig.fleet.load(other)).toEqual({ used: 4, max: 4 });
    expect(rig.fleet.load(by)).toEqual({ used: 0, max: 4 });
    await rig.clock.advance(OVERLOAD_PAUSE_MS);
    expect((await waiting).fence?.nodeId).toBe(by);
  });

  it('restarts the pause with every further rejection', async () => {
    const { rig, by } = await startTurnedAway(['node-a', 'node-b']);
    await rig.clock.advance(OVERLOAD_PAUSE_MS / 2);
    rig.fleet.setPaused(by, false);
    let again = await rig.dispatch();
    while (rig.last(again.jobId).nodeId !== by) again = await rig.dispatch();
    await rig.service.fail(rig.last(again.jobId), FULL);
    rig.fleet.setLoad(by, { used: 0, max: 4 });
    await rig.clock.advance(0.75 * OVERLOAD_PAUSE_MS);
    expect(rig.fleet.table.columns.free[rig.fleet.table.indexOf(by)]).toBe(0);
  });

  it('does not send one waiting job after another', async () => {
    const { rig, by } = await startTurnedAway(['node-a']);
    const waiting = Promise.allSettled(
      Array.from({ length: 5 }, () => rig.dispatch({ waitMs: 4 * OVERLOAD_PAUSE_MS })),
    );
    rig.fleet.setLoad(by, { used: 3, max: 4 });
    rig.fleet.setLoad(by, { used: 2, max: 4 });
    await rig.clock.advance(OVERLOAD_PAUSE_MS / 2);
    expect(rig.sent.filter(({ nodeId }) => nodeId === by)).toHaveLength(1);
    await rig.clock.advance(OVERLOAD_PAUSE_MS);
    expect(rig.sent.length).toBeGreaterThan(1);
    await rig.clock.advance(4 * OVERLOAD_PAUSE_MS);
    await waiting;
  });
});
