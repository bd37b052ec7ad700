/** Slots that are had after a while: what became of the job meanwhile decides whether it is sent. */
import { describe, expect, it } from 'vitest';
import { createFaultyRig } from './faulty-rig.ts';

describe('a job whose record is written before its slot is had', () => {
  const waiting = async () => {
    const made = createFaultyRig();
    await made.rig.addNode('node-a');
    made.ledger.plan({ method: 'reserve', fault: { answerDelayMs: 50 } });
    const dispatching = made.rig.service.dispatch(made.rig.request());
    await made.rig.clock.advance(10);
    const [job] = (await made.rig.store.list({ limit: 1 })).jobs;
    return { ...made, dispatching, jobId: job?.jobId ?? '' };
  };

  it('leaves for its node as soon as it has it', async () => {
    const { rig, dispatching } = await waiting();
    await rig.clock.advance(100);
    expect(await dispatching).toMatchObject({ kind: 'dispatched', job: { fence: { nodeId: 'node-a' } } });
  });

  it('is not sent to a node, nor keeps the slot, if it is cancelled meanwhile', async () => {
    const { rig, dispatching, jobId } = await waiting();
    expect((await rig.service.cancel(jobId, 'stop')).kind).toBe('cancelled');
    await rig.clock.advance(100);
    expect(rig.refusal(await dispatching).code).toBe('JOB_CANCELLED');
    expect([rig.sent, rig.cancelled, await rig.used('node-a')]).toEqual([[], [], 0]);
  });

  it('I4 fencing: is not sent by an instance whose jobs others drive by then, and keeps its slot', async () => {
    const { rig, dispatching } = await waiting();
    rig.service.abandonAll();
    await rig.clock.advance(100);
    expect(rig.refusal(await dispatching).code).toBe('SCHEDULER_DEPENDENCY_DOWN');
    expect([rig.sent, rig.cancelled, await rig.used('node-a')]).toEqual([[], [], 1]);
  });
});
