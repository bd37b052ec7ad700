/** Audio held by a dead instance: the job is sent to no other node until a session or client brings the audio back. */
import { describe, expect, it } from 'vitest';
import { holdDelivery } from '../rigs/hold-delivery.ts';
import { RESULT } from '../rigs/rig.ts';
import { createInstances, type Instances } from '../rigs/two-instances.ts';

const FAILURE = { code: 'PROCESSING_ERROR', message: 'boom' };
const AT = { url: 'http://10.0.0.3:8080/audio/1', token: 'once', bytes: 4 };

/** node-a has the job as the second instance takes it over; node-b is free for it. */
async function takeOverRunning(): Promise<Instances & { jobId: string }> {
  const instances = createInstances();
  const { first, addNode } = instances;
  await addNode('node-a');
  const { jobId } = await first.dispatch({ requestId: 'r', fingerprint: 'f' });
  await first.service.acknowledge(first.last(jobId));
  first.service.dropAll();
  await instances.takeOver(jobId);
  await addNode('node-b');
  return { ...instances, jobId };
}

async function takeOverFailed() {
  const instances = await takeOverRunning();
  const { first, second, jobId } = instances;
  await second.service.fail(first.last(jobId), FAILURE);
  await first.clock.advance(300);
  return instances;
}

describe('a job whose audio was lost', () => {
  it('finishes on the node where it runs', async () => {
    const { first, second, jobId } = await takeOverRunning();
    await first.clock.advance(30_000);
    expect((await second.service.finish(first.last(jobId), RESULT)).kind).toBe('accepted');
  });

  it('is not sent again and ends at its deadline with AUDIO_LOST', async () => {
    const { first, second, jobId, record } = await takeOverFailed();
    await first.clock.advance(80_000);
    expect(await record(jobId)).toMatchObject({ state: 'RETRYING' });
    expect(second.service.waiting()).toBe(0);
    await first.clock.advance(10_100);
    expect(await record(jobId)).toMatchObject({ state: 'RELEASED', failure: { code: 'AUDIO_LOST' } });
    expect(second.sent).toEqual([]);
    expect(second.service.inFlight()).toBe(0);
  });

  it('is sent at once when this instance holds its audio again', async () => {
    const { first, second, jobId } = await takeOverFailed();
    second.audio.put(jobId, 'acme', Buffer.from([1, 2, 3, 4]));
    second.service.audioReturned(jobId);
    await first.clock.advance(10);
    expect(second.last(jobId)).toMatchObject({ nodeId: 'node-b', attempt: 2 });
    expect(second.sent[0]?.audioAt).toBeUndefined();
    await second.service.finish(second.last(jobId), RESULT);
    expect(second.audio.size()).toBe(0);
  });

  it('is sent with a reference when another instance holds its audio', async () => {
    const { first, second, jobId, addNode } = await takeOverFailed();
    await addNode('node-c');
    const endDelivery = ['node-b', 'node-c'].map((nodeId) => holdDelivery(second, nodeId));
    second.service.audioReturned(jobId, AT);
    await first.clock.advance(10);
    // A second offer during the delivery.
    second.service.audioReturned(jobId, AT);
    await first.clock.advance(10);
    for (const release of endDelivery) release();
    await first.clock.advance(10);
    expect(second.sent.map(({ attempt, audioAt }) => ({ attempt, audioAt }))).toEqual([
      { attempt: 2, audioAt: AT },
    ]);
  });

  it('is sent once when its audio is offered twice', async () => {
    const { first, second, jobId } = await takeOverFailed();
    await second.addNode('node-c');
    second.audio.put(jobId, 'acme', Buffer.from([1, 2, 3, 4]));
    second.service.audioReturned(jobId, AT);
    second.service.audioReturned(jobId, AT);
    await first.clock.advance(10);
    expect(second.sent.map(({ attempt, audioAt }) => ({ attempt, audioAt }))).toEqual([
      { attempt: 2, audioAt: undefined },
    ]);
    expect((await first.used('node-b')) + (await first.used('node-c'))).toBe(1);
  });

  it('is not lost when this instance already holds it', async () => {
    const instances = createInstances();
    const { first, second, addNode } = instances;
    await addNode('node-a');
    const { jobId } = await first.dispatch();
    first.service.dropAll();
    second.audio.put(jobId, 'acme', Buffer.from([1, 2, 3, 4]));
    await instances.takeOver(jobId);
    await addNode('node-b');
    await second.service.fail(first.last(jobId), FAILURE);
    expect(second.last(jobId)).toMatchObject({ nodeId: 'node-b', attempt: 2 });
  });

  it('is sent with audio that returned while its attempt ran', async () => {
    const { first, second, jobId } = await takeOverRunning();
    second.service.audioReturned(jobId, AT);
    await first.clock.advance(10);
    expect(second.sent).toEqual([]);
    await second.service.fail(first.last(jobId), FAILURE);
    expect(second.last(jobId)).toMatchObject({ nodeId: 'node-b', attempt: 2 });
    expect(second.sent[0]?.audioAt).toEqual(AT);
  });

  it('waits for a free node when its audio is back', async () => {
    const { first, second, jobId } = await takeOverFailed();
    const busy = await second.dispatch({ need: { ...second.request().need, preferredNodeId: 'node-b' } });
    const other = await second.dispatch();
    for (const { jobId: id } of [busy, other]) await second.service.acknowledge(second.last(id));
    second.service.audioReturned(jobId, AT);
    await first.clock.advance(300);
    expect(second.service.waiting()).toBe(1);
    for (const { jobId: id } of [busy, other]) await second.service.finish(second.last(id), RESULT);
    await first.clock.advance(300);
    expect(second.last(jobId)).toMatchObject({ nodeId: 'node-b', attempt: 2 });
  });

  it('fails with its last failure when its audio returned without nodes', async () => {
    const { first, second, jobId, record } = await takeOverFailed();
    second.fleet.remove('node-b');
    second.service.audioReturned(jobId, AT);
    await first.clock.advance(100_000);
    expect(await record(jobId)).toMatchObject({ state: 'RELEASED', failure: { code: FAILURE.code } });
  });

  it('ignores a return of audio that this instance does not hold', async () => {
    const { first, second, jobId, record } = await takeOverFailed();
    second.service.audioReturned(jobId);
    await first.clock.advance(10);
    expect(second.sent).toEqual([]);
    expect((await record(jobId)).state).toBe('RETRYING');
  });

  it('waits for its audio before its first node', async () => {
    const instances = createInstances();
    const { first, second, addNode, record } = instances;
    await addNode('node-a');
    await first.dispatch();
    const waiting = first.service.dispatch(
      first.request({ waitMs: 5_000, requestId: 'r', fingerprint: 'f' }),
    );
    await first.clock.advance(1);
    const jobId = (await first.store.bound('default', 'r'))?.jobId ?? '';
    first.service.dropAll();
    await instances.takeOver(jobId);
    await second.addNode('node-b');
    await first.clock.advance(1_000);
    expect((await record(jobId)).state).toBe('CREATED');
    expect(second.sent).toEqual([]);
    second.service.audioReturned(jobId, AT);
    await first.clock.advance(10);
    expect(second.last(jobId)).toMatchObject({ nodeId: 'node-b', attempt: 1 });
    await waiting;
  });

  it('waits for its audio when its intended node stays silent', async () => {
    const instances = createInstances();
    const { first, second, addNode, record } = instances;
    await addNode('node-a');
    holdDelivery(first, 'node-a');
    void first.service.dispatch(first.request({ requestId: 'r', fingerprint: 'f' }));
    await first.clock.advance(1);
    const jobId = (await first.store.bound('default', 'r'))?.jobId ?? '';
    first.service.dropAll();
    await instances.takeOver(jobId);
    await addNode('node-b');
    await first.clock.advance(3_100);
    expect(await record(jobId)).toMatchObject({ state: 'RETRYING', intent: undefined });
    expect(second.sent).toEqual([]);
    second.service.audioReturned(jobId, AT);
    await first.clock.advance(10);
    expect(second.last(jobId)).toMatchObject({ nodeId: 'node-b', attempt: 2 });
  });

  it('is sent when its audio returns during the RETRYING write', async () => {
    const isSlow = { now: false };
    const instances = createInstances({
      wrapSecond: (store, clock) => ({
        ...store,
        async move(...move) {
          if (isSlow.now) await new Promise<void>((resolve) => clock.after(100, resolve));
          return store.move(...move);
        },
      }),
    });
    const { first, second, addNode } = instances;
    await addNode('node-a');
    holdDelivery(first, 'node-a');
    void first.service.dispatch(first.request({ requestId: 'r', fingerprint: 'f' }));
    await first.clock.advance(1);
    const jobId = (await first.store.bound('default', 'r'))?.jobId ?? '';
    first.service.dropAll();
    await instances.takeOver(jobId);
    await addNode('node-b');
    isSlow.now = true;
    await first.clock.advance(3_050);
    second.service.audioReturned(jobId, AT);
    await first.clock.advance(1_000);
    expect(second.sent.map(({ nodeId, attempt }) => ({ nodeId, attempt }))).toEqual([
      { nodeId: 'node-b', attempt: 2 },
    ]);
  });

  it('needs no audio after a late acknowledgement', async () => {
    const instances = createInstances();
    const { first, second, addNode, record } = instances;
    await addNode('node-a');
    const { jobId } = await first.dispatch();
    first.service.dropAll();
    await instances.takeOver(jobId);
    await addNode('node-b');
    await first.clock.advance(3_100);
    expect((await record(jobId)).state).toBe('RETRYING');
    expect((await second.service.acknowledge(first.last(jobId))).kind).toBe('accepted');
    second.service.audioReturned(jobId, AT);
    await first.clock.advance(10);
    expect(second.sent).toEqual([]);
    expect((await record(jobId)).state).toBe('RUNNING');
  });

  it('is sent once when audio returns while the attempt is abandoned', async () => {
    let isSlow = false;
    const instances = createInstances({
      wrapLedger: (ledger, clock) => ({
        ...ledger,
        async release(...release) {
          if (isSlow) await new Promise<void>((resolve) => clock.after(50, resolve));
          return ledger.release(...release);
        },
      }),
    });
    const { first, second, addNode } = instances;
    await addNode('node-a');
    const { jobId } = await first.dispatch();
    first.service.dropAll();
    await instances.takeOver(jobId);
    await first.clock.advance(3_100);
    await second.service.acknowledge(first.last(jobId));
    for (const nodeId of ['node-b', 'node-c']) await addNode(nodeId);
    isSlow = true;
    void second.service.fail(first.last(jobId), FAILURE);
    await first.clock.advance(10);
    second.service.audioReturned(jobId, AT);
    await first.clock.advance(500);
    expect(second.sent.map(({ attempt }) => attempt)).toEqual([2]);
  });

  it('is not the failure of a job that runs at its deadline', async () => {
    const instances = createInstances({ settings: { jobTimeoutMs: 100_000 } });
    const { first, second, addNode, record } = instances;
    await addNode('node-a');
    const { jobId } = await first.dispatch();
    first.service.dropAll();
    await instances.takeOver(jobId);
    await first.clock.advance(3_100);
    await second.service.acknowledge(first.last(jobId));
    await first.clock.advance(90_000);
    expect(await record(jobId)).toMatchObject({ state: 'RELEASED', failure: { code: 'ACK_TIMEOUT' } });
  });

  it('waits again when the instance with its audio is gone too', async () => {
    const { first, second, jobId, record } = await takeOverFailed();
    second.service.audioReturned(jobId, AT);
    await first.clock.advance(10);
    await second.addNode('node-c');
    const blamed = second.outcomes.length;
    await second.service.fail(second.last(jobId), { code: 'AUDIO_LOST', message: 'gone' });
    await first.clock.advance(300);
    expect((await record(jobId)).state).toBe('RETRYING');
    expect(second.last(jobId).nodeId).toBe('node-b');
    expect(second.outcomes).toHaveLength(blamed);
    second.service.audioReturned(jobId, AT);
    await first.clock.advance(10);
    expect(second.last(jobId)).toMatchObject({ nodeId: 'node-c', attempt: 3 });
  });

  it('jobs with their own audio ignore returned audio', async () => {
    const { first, addNode } = createInstances();
    await addNode('node-a');
    const { jobId } = await first.dispatch();
    first.service.audioReturned(jobId, AT);
    first.service.audioReturned('unknown', AT);
    await addNode('node-b');
    await first.service.fail(first.last(jobId), FAILURE);
    expect(first.last(jobId)).toMatchObject({ nodeId: 'node-b', attempt: 2 });
    expect(first.sent.at(-1)?.audioAt).toBeUndefined();
  });
});
