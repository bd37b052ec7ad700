/** Reports that arrive before DISPATCHED is written: DISPATCHED is written exactly once. */
import { describe, expect, it } from 'vitest';
import type { JobStore } from '../../../src/ports/job-store.ts';
import { holdDelivery } from '../rigs/hold-delivery.ts';
import { createRig, RESULT, type Rig } from '../rigs/rig.ts';

const SAME = { requestId: 'r', fingerprint: 'f' };
const ANSWER_MS = 20;

/** Each move answers after a delay. */
function createSlowRig(): { rig: Rig; moves: string[] } {
  const moves: string[] = [];
  const rig = createRig({
    wrapStore: (store, clock): JobStore => ({
      ...store,
      async move(jobId, expected, change) {
        const moved = await store.move(jobId, expected, change);
        moves.push(`${change.state} ${moved.kind}`);
        await new Promise<void>((resolve) => clock.after(ANSWER_MS, resolve));
        return moved;
      },
    }),
  });
  return { rig, moves };
}

async function sending() {
  const made = createSlowRig();
  const { rig } = made;
  await rig.addNode('node-a');
  const endDelivery = holdDelivery(rig, 'node-a');
  const outcome = rig.service.dispatch(rig.request(SAME));
  await rig.clock.advance(1);
  const jobId = (await rig.store.bound('default', 'r'))?.jobId ?? '';
  return { ...made, endDelivery, outcome, answer: { nodeId: 'node-a', jobId, attempt: 1 } };
}

const WRITTEN_ONCE = ['DISPATCHED moved', 'RUNNING moved', 'RELEASED moved'];

describe('a report before DISPATCHED is written', () => {
  it('waits for the DISPATCHED write of the delivery', async () => {
    const { rig, moves, endDelivery, outcome, answer } = await sending();
    endDelivery();
    await rig.clock.advance(5);
    const acknowledged = rig.service.acknowledge(answer);
    await rig.clock.advance(100);
    expect((await acknowledged).kind).toBe('accepted');
    expect((await outcome).kind).toBe('dispatched');
    const finished = rig.service.finish(answer, RESULT);
    await rig.clock.advance(100);
    expect((await finished).kind).toBe('accepted');
    expect(moves).toEqual(WRITTEN_ONCE);
  });

  it('writes DISPATCHED itself when the delivery has no reply yet', async () => {
    const { rig, moves, endDelivery, outcome, answer } = await sending();
    const acknowledged = rig.service.acknowledge(answer);
    await rig.clock.advance(5);
    endDelivery();
    await rig.clock.advance(100);
    expect([(await acknowledged).kind, (await outcome).kind]).toEqual(['accepted', 'dispatched']);
    const finished = rig.service.finish(answer, RESULT);
    await rig.clock.advance(100);
    expect((await finished).kind).toBe('accepted');
    expect(moves).toEqual(WRITTEN_ONCE);
    expect([rig.cancelled, await rig.used('node-a'), rig.service.inFlight()]).toEqual([[], 0, 0]);
  });

  it('shares the DISPATCHED write with a second report', async () => {
    const { rig, moves, endDelivery, answer } = await sending();
    const both = [rig.service.acknowledge(answer), rig.service.finish(answer, RESULT)];
    endDelivery();
    await rig.clock.advance(200);
    expect((await Promise.all(both)).map(({ kind }) => kind)).toContain('accepted');
    expect(moves.filter((move) => move.startsWith('DISPATCHED'))).toEqual(['DISPATCHED moved']);
    expect(await rig.state(answer.jobId)).toBe('RELEASED');
  });

  it('is ignored when the job was cancelled first', async () => {
    const { rig, endDelivery, answer } = await sending();
    const cancelled = rig.service.cancel(answer.jobId, 'no longer wanted');
    endDelivery();
    const acknowledged = rig.service.acknowledge(answer);
    await rig.clock.advance(200);
    expect([(await cancelled).kind, (await acknowledged).kind]).toEqual(['cancelled', 'ignored']);
    // Sent at once, and again after the delivery: the first may have overtaken the job.
    expect(rig.cancelled.filter(({ reason }) => reason === 'superseded')).toHaveLength(2);
    await rig.clock.advance(100_000);
    expect([await rig.used('node-a'), rig.service.inFlight()]).toEqual([0, 0]);
  });
});
