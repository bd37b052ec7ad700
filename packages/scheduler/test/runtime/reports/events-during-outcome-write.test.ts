/** What happens to a job while the write of its outcome takes long. */
import { describe, expect, it } from 'vitest';
import { createFaultyRig } from '../rigs/faulty-rig.ts';
import { holdDelivery } from '../rigs/hold-delivery.ts';
import { RESULT, type Rig, SETTINGS } from '../rigs/rig.ts';

const LATER = { ...RESULT, textTranslated: 'later' };
/** Longer than the pause after a failed write. */
const AGAIN_MS = 500;

async function running() {
  const made = createFaultyRig();
  await made.rig.addNode('node-a');
  const { jobId } = await made.rig.dispatch();
  const first = made.rig.last(jobId);
  await made.rig.service.acknowledge(first);
  await made.rig.addNode('node-b');
  return { ...made, jobId, first };
}

describe('I3 one outcome: a result that is being written', () => {
  it.each([
    ['reconnects without the job', (rig: Rig) => rig.service.nodeReturned('node-a', [])],
    ['is lost', (rig: Rig) => rig.service.nodeLeft('node-a', 0)],
  ])('counts although its node %s meanwhile', async (_, happens) => {
    const { rig, strikeMove, jobId, first } = await running();
    strikeMove('throw');
    const finished = rig.service.finish(first, RESULT);
    await rig.clock.advance(10);
    happens(rig);
    await rig.clock.advance(AGAIN_MS);
    expect((await finished).kind).toBe('accepted');
    expect(await rig.store.get(jobId)).toMatchObject({ state: 'RELEASED', result: RESULT });
    expect([rig.sent.length, await rig.used('node-a')]).toEqual([1, 0]);
    expect(rig.outcomes).toEqual([{ nodeId: 'node-a', outcome: 'succeeded' }]);
  });

  /** The result of an abandoned attempt is written while the next attempt is sent; the write is refused. */
  async function refusedWrite(fault: 'throw' | { readonly delayMs: number }) {
    const made = await running();
    const { rig, store, jobId, first } = made;
    const letGo = holdDelivery(rig, 'node-b');
    rig.service.nodeLeft('node-a', 0);
    await rig.clock.advance(10);
    expect(await rig.state(jobId)).toBe('RESERVED');
    store.plan({ method: 'move', at: [store.calls('move') + 1], fault });
    const finished = rig.service.finish(first, RESULT);
    letGo();
    await rig.clock.advance(10);
    const second = rig.last(jobId);
    expect([await rig.state(jobId), second.attempt]).toEqual(['DISPATCHED', 2]);
    return { ...made, finished, second };
  }

  it('of an abandoned attempt does not delay the next result', async () => {
    const { rig, jobId, finished, second } = await refusedWrite('throw');
    expect((await rig.service.finish(second, LATER)).kind).toBe('accepted');
    expect(await rig.store.get(jobId)).toMatchObject({ state: 'RELEASED', result: LATER });
    await rig.clock.advance(AGAIN_MS);
    expect((await finished).kind).toBe('ignored');
    expect(await rig.store.get(jobId)).toMatchObject({ state: 'RELEASED', result: LATER });
    expect([await rig.used('node-a'), await rig.used('node-b')]).toEqual([0, 0]);
    // A node whose result is the outcome gets no cancel.
    expect(rig.cancelled.filter(({ nodeId }) => nodeId === 'node-b')).toEqual([]);
  });

  it.each([
    ['reconnects without the job', (rig: Rig) => rig.service.nodeReturned('node-b', [])],
    ['is lost', (rig: Rig) => rig.service.nodeLeft('node-b', 0)],
  ])('of an abandoned attempt yields to a result whose node %s', async (_, happens) => {
    const { rig, store, jobId, second } = await refusedWrite({ delayMs: AGAIN_MS });
    await rig.service.acknowledge(second);
    await rig.addNode('node-c');
    store.plan({ method: 'move', at: [store.calls('move') + 1], fault: 'throw' });
    const later = rig.service.finish(second, LATER);
    await rig.clock.advance(10);
    happens(rig);
    await rig.clock.advance(2 * AGAIN_MS);
    expect((await later).kind).toBe('accepted');
    expect(await rig.store.get(jobId)).toMatchObject({ state: 'RELEASED', result: LATER });
    expect(rig.sent.map(({ nodeId }) => nodeId)).toEqual(['node-a', 'node-b']);
  });

  it('of an abandoned attempt does not delay the next failure', async () => {
    const { rig, jobId, second } = await refusedWrite('throw');
    await rig.addNode('node-c');
    void rig.service.fail(second, { code: 'PROCESSING_ERROR', message: 'boom' });
    await rig.clock.advance(10);
    expect(rig.last(jobId)).toMatchObject({ nodeId: 'node-c', attempt: 3 });
  });

  it('of an abandoned attempt does not change the acknowledgement timeout', async () => {
    const slow = { delayMs: SETTINGS.ackTimeoutMs + 1_000 };
    const silent = await refusedWrite(slow);
    await silent.rig.addNode('node-c');
    await silent.rig.clock.advance(SETTINGS.ackTimeoutMs + 50);
    expect(silent.rig.last(silent.jobId)).toMatchObject({ nodeId: 'node-c', attempt: 3 });

    const acknowledged = await refusedWrite(slow);
    await acknowledged.rig.addNode('node-c');
    await acknowledged.rig.clock.advance(SETTINGS.ackTimeoutMs / 2);
    expect((await acknowledged.rig.service.acknowledge(acknowledged.second)).kind).toBe('accepted');
    await acknowledged.rig.clock.advance(2 * SETTINGS.ackTimeoutMs);
    expect([await acknowledged.rig.state(acknowledged.jobId), acknowledged.rig.sent.length]).toEqual([
      'RUNNING',
      2,
    ]);
  });

  it('of an abandoned attempt does not prevent a cancel', async () => {
    const { rig, jobId } = await refusedWrite('throw');
    expect((await rig.service.cancel(jobId, 'stop')).kind).toBe('cancelled');
    expect(await rig.store.get(jobId)).toMatchObject({ failure: { code: 'JOB_CANCELLED' } });
  });

  it('of an abandoned attempt does not delay the deadline', async () => {
    const { rig, jobId, second } = await refusedWrite({ delayMs: 2 * SETTINGS.jobDeadlineMs });
    await rig.service.acknowledge(second);
    await rig.clock.advance(SETTINGS.jobDeadlineMs + AGAIN_MS);
    expect(await rig.store.get(jobId)).toMatchObject({ state: 'RELEASED', result: undefined });
  });

  it('of an abandoned attempt cancels no node whose result is written', async () => {
    const { rig, store, jobId, finished, second } = await refusedWrite({ delayMs: 100 });
    store.plan({ method: 'move', at: [store.calls('move') + 1], fault: { answerDelayMs: AGAIN_MS } });
    const later = rig.service.finish(second, LATER);
    await rig.clock.advance(200);
    expect([(await finished).kind, await rig.state(jobId)]).toEqual(['ignored', 'RELEASED']);
    await rig.clock.advance(AGAIN_MS);
    expect((await later).kind).toBe('accepted');
    expect(rig.cancelled.filter(({ nodeId }) => nodeId === 'node-b')).toEqual([]);
    expect(await rig.used('node-b')).toBe(0);
  });

  it('of an abandoned attempt leaves the next attempt alone', async () => {
    const { rig, store } = createFaultyRig();
    await rig.addNode('node-a');
    const { jobId } = await rig.dispatch();
    const first = rig.last(jobId);
    await rig.addNode('node-b');
    const [abandon, finish] = [store.calls('move') + 1, store.calls('move') + 2];
    store.plan(
      { method: 'move', at: [abandon], fault: { delayMs: 50 } },
      { method: 'move', at: [finish], fault: { delayMs: AGAIN_MS } },
    );
    await rig.clock.advance(SETTINGS.ackTimeoutMs + 20);
    const finished = rig.service.finish(first, RESULT);
    rig.service.nodeLeft('node-a', 0);
    await rig.clock.advance(100);
    const second = rig.last(jobId);
    expect([second.nodeId, (await rig.service.acknowledge(second)).kind]).toEqual(['node-b', 'accepted']);
    await rig.addNode('node-c');
    await rig.clock.advance(AGAIN_MS);
    expect((await finished).kind).toBe('ignored');
    expect([await rig.state(jobId), rig.last(jobId)]).toEqual(['RUNNING', second]);
    expect((await rig.service.finish(second, LATER)).kind).toBe('accepted');
  });

  it('prevents a cancel after an older write failed', async () => {
    const { rig, store, jobId, finished, second } = await refusedWrite({ delayMs: 100 });
    store.plan({ method: 'move', at: [store.calls('move') + 1], fault: { delayMs: 1_000 } });
    const later = rig.service.finish(second, LATER);
    await rig.clock.advance(200);
    expect((await finished).kind).toBe('ignored');
    expect((await rig.service.cancel(jobId, 'stop')).kind).toBe('settled');
    await rig.clock.advance(1_000);
    expect((await later).kind).toBe('accepted');
  });

  it('prevents a cancel', async () => {
    const { rig, strikeMove, jobId, first } = await running();
    strikeMove('throw');
    const finished = rig.service.finish(first, RESULT);
    await rig.clock.advance(10);
    expect((await rig.service.cancel(jobId, 'stop')).kind).toBe('settled');
    await rig.clock.advance(AGAIN_MS);
    expect((await finished).kind).toBe('accepted');
  });
});

describe('I3 one outcome: a job at its deadline', () => {
  it('ends with its result although another node is sent it meanwhile', async () => {
    const { rig, store } = createFaultyRig({ pendingTimeoutMs: 2 * SETTINGS.jobDeadlineMs });
    await rig.addNode('node-a');
    await rig.addNode('node-full', 0);
    const { jobId } = await rig.dispatch();
    const untranslated = { ...RESULT, textTranslated: '' };
    await rig.service.finish(rig.last(jobId), untranslated);
    await rig.clock.advance(SETTINGS.jobDeadlineMs - 400);
    const letGo = holdDelivery(rig, 'node-b');
    await rig.addNode('node-b');
    await rig.clock.advance(300);
    expect(await rig.state(jobId)).toBe('RESERVED');
    store.plan({ method: 'move', at: [store.calls('move') + 1], fault: { delayMs: 200 } });
    await rig.clock.advance(200);
    letGo();
    await rig.clock.advance(50);
    expect(await rig.state(jobId)).toBe('DISPATCHED');
    await rig.clock.advance(AGAIN_MS);
    expect(await rig.store.get(jobId)).toMatchObject({ state: 'RELEASED', result: untranslated });
    expect(rig.cancelled.map(({ nodeId }) => nodeId)).toEqual(['node-b']);
  });

  it('ends in time although a refused result is being written', async () => {
    const jobDeadlineMs = 10_000;
    const { rig, store } = createFaultyRig({ jobDeadlineMs });
    await rig.addNode('node-a');
    const { jobId } = await rig.dispatch();
    const first = rig.last(jobId);
    await rig.service.acknowledge(first);
    const letGo = holdDelivery(rig, 'node-b');
    await rig.addNode('node-b');
    await rig.clock.advance(jobDeadlineMs - 200);
    rig.service.nodeLeft('node-a', 0);
    await rig.clock.advance(10);
    expect(await rig.state(jobId)).toBe('RESERVED');
    store.plan({ method: 'move', at: [store.calls('move') + 1], fault: { delayMs: AGAIN_MS } });
    const finished = rig.service.finish(first, RESULT);
    await rig.clock.advance(300);
    letGo();
    await rig.clock.advance(AGAIN_MS);
    expect((await finished).kind).toBe('ignored');
    await rig.clock.advance(100);
    expect(await rig.store.get(jobId)).toMatchObject({ state: 'RELEASED', result: undefined });
  });
});
