/** I3 one outcome: a job whose delivery ended unknown is not withdrawn; its node reports, or is cancelled. */
import { describe, expect, it } from 'vitest';
import type { Delivery } from '../../../src/ports/node-link.ts';
import { createFaultyRig } from '../rigs/faulty-rig.ts';
import { holdDelivery } from '../rigs/hold-delivery.ts';
import { createRig, RESULT, type Rig, SETTINGS } from '../rigs/rig.ts';
import { createInstances } from '../rigs/two-instances.ts';

const SAME = { requestId: 'r', fingerprint: 'f' };
const { ackTimeoutMs: ACK_MS, pendingTimeoutMs: PENDING_MS } = SETTINGS;
const SILENT = { kind: 'unknown', reason: 'holder_silent' } as const;

async function boundTo(rig: Rig) {
  const job = await rig.store.bound('default', 'r');
  if (job === undefined) throw new Error('nothing is bound');
  return job;
}

async function sendUnclearly({ rig = createRig(), waitMs = 0 } = {}) {
  await rig.addNode('node-a');
  let sends = 0;
  rig.onDelivery('node-a', () => {
    sends += 1;
    return SILENT;
  });
  const outcome = await rig.service.dispatch(rig.request({ ...SAME, waitMs }));
  const { jobId } = await boundTo(rig);
  return { rig, outcome, jobId, first: { nodeId: 'node-a', jobId, attempt: 1 }, sends: () => sends };
}

/** The delivery hangs until the test ends it. */
async function sendSlowly(rig = createRig()) {
  await rig.addNode('node-a');
  const held: ((delivery: Delivery) => void)[] = [];
  rig.onDelivery('node-a', () => new Promise((resolve) => held.push(resolve)));
  const dispatching = rig.service.dispatch(rig.request(SAME));
  await rig.clock.advance(100);
  const { jobId } = await boundTo(rig);
  const end = async (delivery: Delivery): Promise<void> => {
    for (const resolve of held) resolve(delivery);
    await dispatching;
  };
  return { rig, jobId, first: { nodeId: 'node-a', jobId, attempt: 1 }, end };
}

const stopOf = (nodeId: string, jobId: string) => ({ nodeId, jobId, reason: 'superseded' });

describe('a job with an unknown delivery and no other node', () => {
  it.each([0, 2_000])('is not withdrawn, and its node may report (waiting %i ms)', async (waitMs) => {
    const { rig, outcome, jobId, first } = await sendUnclearly({ waitMs });
    expect(outcome).toMatchObject({ kind: 'dispatched', job: { jobId, intent: { nodeId: 'node-a' } } });
    expect((await rig.service.acknowledge(first)).kind).toBe('accepted');
    expect((await rig.service.finish(first, RESULT)).kind).toBe('accepted');
    const { state, result } = await boundTo(rig);
    expect([state, result]).toEqual(['RELEASED', RESULT]);
    expect([rig.cancelled, rig.service.inFlight(), rig.audio.size()]).toEqual([[], 0, 0]);
    await rig.clock.advance(200_000);
    expect([await rig.used('node-a'), rig.clock.pending()]).toEqual([0, 0]);
  });

  it('is not withdrawn after it waited for a slot', async () => {
    const rig = createRig();
    await rig.addNode('node-a');
    await rig.ledger.reserve('node-a', 'other:1', 60_000);
    rig.onDelivery('node-a', () => SILENT);
    const dispatching = rig.service.dispatch(rig.request({ ...SAME, waitMs: 2_000 }));
    await rig.clock.advance(500);
    const load = await rig.ledger.release('node-a', 'other:1');
    if ('used' in load) rig.fleet.setLoad('node-a', load);
    await rig.clock.advance(500);
    expect((await dispatching).kind).toBe('dispatched');
    const { jobId } = await boundTo(rig);
    const answer = { nodeId: 'node-a', jobId, attempt: 1 };
    expect((await rig.service.finish(answer, RESULT)).kind).toBe('accepted');
    expect(await rig.state(jobId)).toBe('RELEASED');
  });

  it('is not withdrawn after a second node was undeliverable', async () => {
    const rig = createRig();
    const sends: string[] = [];
    for (const nodeId of ['node-a', 'node-b']) {
      await rig.addNode(nodeId);
      rig.onDelivery(nodeId, () =>
        sends.push(nodeId) === 1 ? SILENT : { kind: 'undeliverable', reason: 'no socket' },
      );
    }
    const outcome = await rig.service.dispatch(rig.request(SAME));
    const [sentTo = ''] = sends;
    expect(sends).toHaveLength(2);
    expect(outcome).toMatchObject({
      kind: 'dispatched',
      job: { state: 'RESERVED', intent: { nodeId: sentTo, attempt: 1 } },
    });
    const { jobId } = await boundTo(rig);
    expect((await rig.service.finish({ nodeId: sentTo, jobId, attempt: 1 }, RESULT)).kind).toBe('accepted');
    expect([rig.cancelled, rig.service.inFlight()]).toEqual([[], 0]);
  });

  it('is retried without a report, and its first node is cancelled once', async () => {
    const { rig, jobId, first, sends } = await sendUnclearly();
    await rig.addNode('node-b');
    await rig.clock.advance(ACK_MS - 100);
    expect([sends(), rig.sent, rig.cancelled]).toEqual([1, [], []]);
    await rig.clock.advance(200);
    expect(rig.last(jobId)).toMatchObject({ nodeId: 'node-b', attempt: 2 });
    expect(rig.cancelled).toEqual([stopOf('node-a', jobId)]);
    expect((await rig.service.finish(first, RESULT)).kind).toBe('ignored');
    expect((await rig.service.finish(rig.last(jobId), RESULT)).kind).toBe('accepted');
    expect([await rig.state(jobId), rig.cancelled.length]).toEqual(['RELEASED', 1]);
  });

  it('fails soon when no other node appears', async () => {
    const { rig, jobId } = await sendUnclearly();
    await rig.clock.advance(ACK_MS + PENDING_MS + 500);
    const job = await rig.store.get(jobId);
    expect([job?.state, job?.failure?.code]).toEqual(['RELEASED', 'ACK_TIMEOUT']);
    expect(job?.failure?.message).toMatch(/^the node may have the job/);
    expect([rig.service.inFlight(), rig.audio.size()]).toEqual([0, 0]);
    expect(rig.cancelled).toEqual([stopOf('node-a', jobId)]);
    await rig.clock.advance(200_000);
    expect([await rig.used('node-a'), rig.clock.pending()]).toEqual([0, 0]);
  });

  it('is cancelled at its node when the client cancels', async () => {
    const { rig, jobId } = await sendUnclearly();
    await rig.service.cancel(jobId, 'no longer wanted');
    expect(rig.cancelled).toEqual([stopOf('node-a', jobId)]);
  });

  it('accepts an acknowledgement in time although its write fails', async () => {
    const { rig, store } = createFaultyRig();
    const { jobId, first } = await sendUnclearly({ rig });
    await rig.clock.advance(ACK_MS - 100);
    store.plan({ method: 'move', at: [store.calls('move') + 1], fault: 'throw' });
    const acknowledged = rig.service.acknowledge(first);
    await rig.clock.advance(500);
    expect([(await acknowledged).kind, await rig.state(jobId), rig.cancelled]).toEqual([
      'accepted',
      'RUNNING',
      [],
    ]);
  });

  it('is awaited longer while the store is unsteady', async () => {
    const { rig, jobId, first } = await sendUnclearly({ rig: createRig({ isStoreSteady: () => false }) });
    await rig.clock.advance(2 * ACK_MS);
    expect((await rig.service.acknowledge(first)).kind).toBe('accepted');
    expect([await rig.state(jobId), rig.cancelled]).toEqual(['RUNNING', []]);
  });

  it('goes on when its node reconnects and names it', async () => {
    const { rig, jobId } = await sendUnclearly();
    await rig.addNode('node-b');
    rig.service.nodeLeft('node-a', 0);
    await rig.clock.advance(500);
    rig.service.nodeReturned('node-a', [jobId], 2);
    await rig.clock.advance(500);
    expect(await rig.store.get(jobId)).toMatchObject({ state: 'RUNNING', fence: { nodeId: 'node-a' } });
    expect([rig.sent, rig.cancelled]).toEqual([[], []]);
  });
});

describe('a node that reports before its delivery ends unknown', () => {
  it('has the job, and no other slot is reserved', async () => {
    const { rig, jobId, first, end } = await sendSlowly();
    await rig.service.acknowledge(first);
    await rig.addNode('node-b');
    await end(SILENT);
    await rig.clock.advance(100);
    expect([await rig.state(jobId), await rig.used('node-b'), rig.cancelled]).toEqual(['RUNNING', 0, []]);
    expect(rig.counts.get('scheduler_reserve_attempt_total{success}')).toBe(1);
  });

  it('I1 no oversell: its late end does not disturb the retry', async () => {
    const { rig, jobId, first, end } = await sendSlowly();
    await rig.addNode('node-full', 0);
    // A result without a translation: used only if no other node has a better one.
    await rig.service.finish(first, { ...RESULT, textTranslated: '' });
    await end(SILENT);
    expect(rig.service.waiting()).toBe(1);
    await rig.addNode('node-b');
    await rig.clock.advance(500);
    const second = rig.last(jobId);
    await rig.service.acknowledge(second);
    await rig.clock.advance(2 * PENDING_MS);
    expect([await rig.state(jobId), await rig.used('node-b')]).toEqual(['RUNNING', 1]);
    expect((await rig.service.finish(second, RESULT)).kind).toBe('accepted');
    expect((await rig.store.get(jobId))?.result).toEqual(RESULT);
  });
});

describe('a retry with an unknown delivery', () => {
  async function retryUnclearly() {
    const rig = createRig();
    await rig.addNode('node-a');
    const { jobId } = await rig.dispatch(SAME);
    await rig.addNode('node-b');
    rig.onDelivery('node-b', () => SILENT);
    await rig.clock.advance(ACK_MS + 100);
    return { rig, jobId, first: { nodeId: 'node-a', jobId, attempt: 1 } };
  }

  it('is cancelled once, and the attempt before may still report', async () => {
    const { rig, jobId, first } = await retryUnclearly();
    expect([await rig.state(jobId), rig.cancelled]).toEqual(['RETRYING', [stopOf('node-b', jobId)]]);
    expect((await rig.service.acknowledge(first)).kind).toBe('accepted');
    expect((await rig.service.finish(first, RESULT)).kind).toBe('accepted');
    expect(rig.cancelled).toEqual([stopOf('node-b', jobId)]);
  });

  it('is cancelled when the attempt before acknowledges during its delivery', async () => {
    const rig = createRig();
    await rig.addNode('node-a');
    const { jobId } = await rig.dispatch(SAME);
    await rig.addNode('node-b');
    const held: ((delivery: Delivery) => void)[] = [];
    rig.onDelivery('node-b', () => new Promise((resolve) => held.push(resolve)));
    await rig.clock.advance(ACK_MS + 100);
    expect((await rig.service.acknowledge({ nodeId: 'node-a', jobId, attempt: 1 })).kind).toBe('accepted');
    for (const end of held) end(SILENT);
    await rig.clock.advance(100);
    expect([await rig.state(jobId), rig.cancelled]).toEqual(['RUNNING', [stopOf('node-b', jobId)]]);
  });

  it('is cancelled after a takeover, and the attempt before is not', async () => {
    const { first, second, addNode, record, takeOver } = createInstances();
    await addNode('node-a');
    const request = first.request(SAME);
    const { audio: _, ...silent } = {
      ...request,
      spec: { ...request.spec, audio: { kind: 'none' } as const },
    };
    await first.service.dispatch(silent);
    const { jobId } = await boundTo(first);
    await addNode('node-b');
    holdDelivery(first, 'node-b');
    await first.clock.advance(ACK_MS + 100);
    expect(await record(jobId)).toMatchObject({
      state: 'RESERVED',
      fence: { attempt: 1 },
      intent: { attempt: 2 },
    });
    first.service.dropAll();
    await takeOver(jobId);
    await first.clock.advance(ACK_MS + 100);
    expect(second.cancelled).toEqual([stopOf('node-b', jobId)]);
    expect((await second.service.finish({ nodeId: 'node-a', jobId, attempt: 1 }, RESULT)).kind).toBe(
      'accepted',
    );
  });
});
