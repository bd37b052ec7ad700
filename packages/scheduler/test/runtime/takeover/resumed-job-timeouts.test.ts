/** Timeouts of resumed jobs follow the clock of the new driver; reports of their nodes count although they are late. */
import { describe, expect, it } from 'vitest';
import { holdDelivery } from '../rigs/hold-delivery.ts';
import { createInstances, type Instances } from '../rigs/two-instances.ts';

const NO_AUDIO = { kind: 'none' } as const;

async function dispatchAndCrash(
  instances: Instances,
  play?: (answer: { nodeId: string; jobId: string; attempt: number }) => Promise<unknown>,
): Promise<string> {
  const { first } = instances;
  const request = first.request({ requestId: 'r', fingerprint: 'f' });
  void first.service.dispatch({ ...request, spec: { ...request.spec, audio: NO_AUDIO } });
  await first.clock.advance(1);
  const jobId = (await first.store.bound('default', 'r'))?.jobId ?? '';
  await play?.({ nodeId: 'node-a', jobId, attempt: 1 });
  first.service.dropAll();
  await instances.takeOver(jobId);
  return jobId;
}

describe('the deadline of a resumed job', () => {
  it('a deadline from a faster clock is capped at job_deadline_ms from now', async () => {
    const instances = createInstances({ settings: { jobTimeoutMs: 100_000 } });
    const { first, second, addNode, drivers, record } = instances;
    await addNode('node-a');
    const { jobId } = await first.dispatch();
    await first.service.acknowledge(first.last(jobId));
    first.service.dropAll();
    drivers.assign(jobId, 'second');
    const found = await record(jobId);
    second.service.resume({ ...found, deadlineAt: found.deadlineAt + 3_600_000 });
    await first.clock.advance(90_100);
    expect((await record(jobId)).state).toBe('RELEASED');
  });

  it('a late acknowledgement of a resumed attempt starts the job timeout', async () => {
    const instances = createInstances();
    const { first, second, addNode, record } = instances;
    await addNode('node-a');
    const jobId = await dispatchAndCrash(instances, () => first.clock.advance(3_100));
    await second.service.acknowledge(first.last(jobId));
    await addNode('node-b');
    await first.clock.advance(59_000);
    expect((await record(jobId)).state).toBe('RUNNING');
    // Only a legacy node sends no acknowledgement by design.
    await first.clock.advance(1_100);
    expect(second.last(jobId)).toMatchObject({ nodeId: 'node-b', attempt: 2 });
  });
});

describe('the node that may have a resumed job', () => {
  async function resumeReserved() {
    const instances = createInstances();
    await instances.addNode('node-a');
    holdDelivery(instances.first, 'node-a');
    const jobId = await dispatchAndCrash(instances);
    await instances.addNode('node-b');
    return { ...instances, jobId, answer: { nodeId: 'node-a', jobId, attempt: 1 } };
  }

  it('has the job if it names it when it reconnects', async () => {
    const { first, second, jobId, record } = await resumeReserved();
    second.service.nodeReturned('node-a', [jobId], 7);
    await first.clock.advance(5_000);
    expect((await record(jobId)).state).toBe('RUNNING');
    expect(second.sent).toEqual([]);
  });

  it('may acknowledge after reconnecting without the job on a known connection', async () => {
    const { first, second, jobId, record, answer } = await resumeReserved();
    second.service.nodeReturned('node-a', [], 7);
    await first.clock.advance(10);
    expect((await second.service.acknowledge(answer)).kind).toBe('accepted');
    await first.clock.advance(5_000);
    expect((await record(jobId)).state).toBe('RUNNING');
    expect(second.sent).toEqual([]);
  });

  it('loses the job when it reconnects without it on an unknown connection', async () => {
    const { first, second, jobId, record, answer } = await resumeReserved();
    second.service.nodeReturned('node-a', []);
    await second.service.acknowledge(answer);
    await first.clock.advance(10);
    expect(second.counts.get('scheduler_retries_total{WS_DISCONNECTED}')).toBe(1);
    // Its acknowledgement counts until another node has the job, so no other node gets it.
    expect(await record(jobId)).toMatchObject({ state: 'RUNNING', fence: { nodeId: 'node-a' } });
    expect([second.sent, await second.used('node-b')]).toEqual([[], 0]);
  });
});
