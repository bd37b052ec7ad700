/** I3 one outcome: a send of unknown end, and what is heard of it while the store is asked, or another node. */
import { describe, expect, it } from 'vitest';
import type { Delivery } from '../../../src/ports/node-link.ts';
import { createFaultyRig } from './faulty-rig.ts';
import { writeDispatched } from './holder.ts';
import { createInstances } from './instances.ts';
import { createRig, need, RESULT, type Rig, SETTINGS } from './rig.ts';

const SAME = { requestId: 'r', fingerprint: 'f' };
const SILENT = { kind: 'unknown', reason: 'holder_silent' } as const;
const FAILURE = { code: 'PROCESSING_ERROR', message: 'boom' };
const ASKING_MS = 100;

async function boundTo(rig: Rig) {
  const job = await rig.store.bound('default', 'r');
  if (job === undefined) throw new Error('nothing is bound');
  return job;
}

describe('while the store is asked whether a job has left', () => {
  /** `isWritten`: its holder has written that it has. */
  async function asking(isWritten: boolean) {
    const { rig, store } = createFaultyRig();
    await rig.addNode('node-a');
    rig.onDelivery('node-a', async (assignment) => {
      if (isWritten) await writeDispatched(rig.store, rig.clock, assignment);
      return SILENT;
    });
    store.plan({ method: 'get', fault: { answerDelayMs: ASKING_MS } });
    const dispatching = rig.service.dispatch(rig.request(SAME));
    await rig.clock.advance(ASKING_MS / 2);
    const { jobId } = await boundTo(rig);
    const answered = async () => {
      await rig.clock.advance(ASKING_MS);
      return dispatching;
    };
    return { rig, jobId, first: { nodeId: 'node-a', jobId, attempt: 1 }, answered };
  }

  it('its result makes it end, and the answer, which is older, changes nothing', async () => {
    const { rig, first, answered } = await asking(true);
    expect((await rig.service.finish(first, RESULT)).kind).toBe('accepted');
    expect(await answered()).toMatchObject({
      kind: 'dispatched',
      job: { state: 'RELEASED', result: RESULT },
    });
    expect([rig.service.inFlight(), rig.cancelled]).toEqual([0, []]);
  });

  it('its failure has it tried elsewhere: it is not meant for that node again', async () => {
    const { rig, jobId, first, answered } = await asking(false);
    await rig.service.fail(first, FAILURE);
    expect(await answered()).toMatchObject({ kind: 'dispatched', job: { state: 'RETRYING' } });
    await rig.clock.advance(SETTINGS.ackTimeoutMs + 100);
    expect([await rig.state(jobId), rig.service.waiting()]).toEqual(['RETRYING', 1]);
    await rig.clock.advance(SETTINGS.pendingTimeoutMs);
    expect((await rig.store.get(jobId))?.failure).toEqual(FAILURE);
  });

  it('others may take it over: then it is refused here, as its repeats are', async () => {
    const { rig, jobId, answered } = await asking(true);
    const repeat = rig.service.dispatch(rig.request(SAME));
    await rig.clock.advance(1);
    rig.service.abandonAll();
    expect(rig.refusal(await repeat).code).toBe('SCHEDULER_DEPENDENCY_DOWN');
    expect(rig.refusal(await answered()).code).toBe('SCHEDULER_DEPENDENCY_DOWN');
    expect([rig.service.drives(jobId), rig.counts.get('scheduler_jobs_admitted_total')]).toEqual([
      false,
      undefined,
    ]);
  });
});

describe('while another node is asked for a slot', () => {
  it('the one that was sent the job may take it: it is dispatched', async () => {
    const { rig, ledger } = createFaultyRig();
    await rig.addNode('node-a');
    await rig.addNode('node-b');
    await rig.ledger.reserve('node-b', 'other:1', 60_000);
    rig.onDelivery('node-a', () => SILENT);
    ledger.plan({ method: 'reserve', at: [2], fault: { delayMs: ASKING_MS } });
    const asked = { ...SAME, need: need({ preferredNodeId: 'node-a' }) };
    const dispatching = rig.service.dispatch(rig.request(asked));
    await rig.clock.advance(ASKING_MS / 2);
    const answer = { nodeId: 'node-a', jobId: (await boundTo(rig)).jobId, attempt: 1 };
    expect((await rig.service.acknowledge(answer)).kind).toBe('accepted');
    await rig.clock.advance(ASKING_MS);
    expect(await dispatching).toMatchObject({ kind: 'dispatched', job: { state: 'RUNNING' } });
    expect((await rig.service.finish(answer, RESULT)).kind).toBe('accepted');
  });
});

describe('while a retry is on its way of which nobody will know whether it arrived', () => {
  it('the attempt before may end the job: that node is told to stop', async () => {
    const rig = createRig();
    await rig.addNode('node-a');
    const { jobId } = await rig.dispatch(SAME);
    await rig.addNode('node-b');
    const held: ((delivery: Delivery) => void)[] = [];
    rig.onDelivery('node-b', () => new Promise((resolve) => held.push(resolve)));
    await rig.clock.advance(SETTINGS.ackTimeoutMs + 100);
    expect((await rig.service.finish({ nodeId: 'node-a', jobId, attempt: 1 }, RESULT)).kind).toBe('accepted');
    for (const end of held) end(SILENT);
    await rig.clock.advance(100);
    expect(rig.cancelled).toEqual([{ nodeId: 'node-b', jobId, reason: 'superseded' }]);
  });
});

describe('while a retry is on its way that turns out not to have left', () => {
  it('the attempt before may take the job up: the next one of unknown end is told to stop all the same', async () => {
    const rig = createRig();
    await rig.addNode('node-a');
    const { jobId } = await rig.dispatch(SAME);
    await rig.addNode('node-b');
    const held: ((delivery: Delivery) => void)[] = [];
    rig.onDelivery('node-b', () => new Promise((resolve) => held.push(resolve)));
    await rig.clock.advance(SETTINGS.ackTimeoutMs + 100);
    const answer = { nodeId: 'node-a', jobId, attempt: 1 };
    expect((await rig.service.acknowledge(answer)).kind).toBe('accepted');
    for (const end of held) end({ kind: 'undeliverable', reason: 'no socket' });
    rig.fleet.remove('node-b');
    await rig.addNode('node-c');
    rig.onDelivery('node-c', () => SILENT);
    await rig.clock.advance(100);
    await rig.service.fail(answer, FAILURE);
    await rig.clock.advance(100);
    expect(rig.cancelled.map(({ nodeId }) => nodeId)).toEqual(['node-b', 'node-c']);
  });
});

describe('a node that was said to be out of reach, and answers all the same', () => {
  it.each([0, 2_000])('has the job: it is not taken back (waiting %i ms)', async (waitMs) => {
    const { rig, store, ledger } = createFaultyRig();
    await rig.addNode('node-a');
    rig.onDelivery('node-a', () => ({ kind: 'undeliverable', reason: 'no socket' }));
    ledger.plan({ method: 'release', fault: { delayMs: ASKING_MS } });
    store.plan({ method: 'discard', fault: { delayMs: ASKING_MS } });
    const dispatching = rig.service.dispatch(rig.request({ ...SAME, waitMs }));
    await rig.clock.advance(ASKING_MS / 2);
    const answer = { nodeId: 'node-a', jobId: (await boundTo(rig)).jobId, attempt: 1 };
    expect((await rig.service.acknowledge(answer)).kind).toBe('accepted');
    await rig.clock.advance(ASKING_MS);
    ledger.heal();
    expect((await rig.service.finish(answer, RESULT)).kind).toBe('accepted');
    expect((await dispatching).kind).toBe('dispatched');
  });
});

describe('a job that was meant for its node again', () => {
  it('stays with that one when another instance takes it over', async () => {
    const { first, second, addNode, takeOver, record } = createInstances();
    const sends: string[] = [];
    for (const nodeId of ['node-a', 'node-b']) {
      await addNode(nodeId);
      first.onDelivery(nodeId, () =>
        sends.push(nodeId) === 1 ? SILENT : { kind: 'undeliverable', reason: 'no socket' },
      );
    }
    const { jobId } = await first.dispatch(SAME);
    const [nodeId = ''] = sends;
    expect([sends.length, (await record(jobId)).intent]).toEqual([2, { nodeId, attempt: 1 }]);
    first.service.abandonAll();
    await takeOver(jobId);
    await first.clock.advance(100);
    const answer = { nodeId, jobId, attempt: 1 };
    expect((await second.service.acknowledge(answer)).kind).toBe('accepted');
    expect((await second.service.finish(answer, RESULT)).kind).toBe('accepted');
    expect(second.cancelled.filter((one) => one.nodeId === nodeId)).toEqual([]);
  });

  it('is meant for the last that may have it', async () => {
    const rig = createRig();
    const sends: string[] = [];
    for (const nodeId of ['node-a', 'node-b', 'node-c']) {
      await rig.addNode(nodeId);
      rig.onDelivery(nodeId, () =>
        sends.push(nodeId) < 3 ? SILENT : { kind: 'undeliverable', reason: 'no socket' },
      );
    }
    const { jobId, intent } = await rig.dispatch(SAME);
    const [first = '', nodeId = ''] = sends;
    expect(intent).toEqual({ nodeId, attempt: 2 });
    expect((await rig.service.finish({ nodeId: first, jobId, attempt: 1 }, RESULT)).kind).toBe('ignored');
    expect((await rig.service.finish({ nodeId, jobId, attempt: 2 }, RESULT)).kind).toBe('accepted');
    expect(rig.cancelled).toEqual([{ nodeId: first, jobId, reason: 'superseded' }]);
  });
});
