/** A repeated request on an instance that does not drive its job. */
import { describe, expect, it } from 'vitest';
import type { JobRecord } from '../../../src/domain/job.ts';
import type { DriverClaim, JobDrivers } from '../../../src/runtime/takeover/job-drivers.ts';
import { RESULT } from '../rigs/rig.ts';
import { createInstances, type Instances } from '../rigs/two-instances.ts';

const SAME = { requestId: 'r', fingerprint: 'f' };

/** The test answers the claims of the second instance; its audio offers are recorded. */
function createRepeating(claim: (job: JobRecord, instances: Instances) => Promise<DriverClaim>) {
  const offered: string[] = [];
  const claimed: string[] = [];
  const drivers: JobDrivers = {
    claim(job) {
      claimed.push(job.jobId);
      return claim(job, instances);
    },
    placingResult: ({ jobId }) => instances.first.service.placingResult(jobId),
    offerAudio: (job) => offered.push(job.jobId),
  };
  const instances = createInstances({ drivers });
  return { ...instances, offered, claimed };
}

const theirs = async (): Promise<DriverClaim> => ({ kind: 'theirs' });

const ours = async (job: JobRecord, { drivers, record }: Instances): Promise<DriverClaim> => {
  drivers.assign(job.jobId, 'second');
  return { kind: 'ours', job: await record(job.jobId) };
};

describe('a repeat of a request whose job another instance drives', () => {
  it('gets the job, and offers its audio to the driver', async () => {
    const { first, second, addNode, offered } = createRepeating(theirs);
    await addNode('node-a', 2);
    const { jobId } = await first.dispatch(SAME);
    for (let i = 0; i < 3; i++) {
      expect(await second.service.dispatch(second.request(SAME))).toMatchObject({
        kind: 'dispatched',
        isRepeat: true,
        job: { jobId, intent: { nodeId: 'node-a' } },
      });
    }
    expect(second.service.drives(jobId)).toBe(false);
    expect(offered).toEqual([jobId, jobId, jobId]);
    expect(second.audio.get(jobId)).toEqual(Buffer.from([1, 2, 3, 4]));
    expect(second.audio.size()).toBe(4);
    await first.clock.advance(90_100);
    expect(second.audio.size()).toBe(0);
    expect(await first.used('node-a')).toBe(0);
  });

  it('waits for the first request, and is refused with it', async () => {
    const { first, second, addNode } = createRepeating(theirs);
    await addNode('node-a');
    await first.dispatch();
    const waiting = first.service.dispatch(first.request({ ...SAME, waitMs: 5_000 }));
    await first.clock.advance(1);
    const repeat = second.service.dispatch(second.request(SAME));
    await first.clock.advance(6_000);
    expect(first.refusal(await waiting).code).toBe('ALL_CANDIDATES_FULL_OR_FAILED');
    expect(second.refusal(await repeat).code).toBe('ALL_CANDIDATES_FULL_OR_FAILED');
  });

  it('waits for the first request, and gets its node', async () => {
    const { first, second, addNode } = createRepeating(theirs);
    await addNode('node-a');
    const { jobId: busy } = await first.dispatch();
    const waiting = first.service.dispatch(first.request({ ...SAME, waitMs: 5_000 }));
    await first.clock.advance(1);
    const repeat = second.service.dispatch(second.request(SAME));
    await first.service.finish(first.last(busy), RESULT);
    await first.clock.advance(300);
    const placed = await waiting;
    if (placed.kind === 'refused') throw new Error(placed.message);
    expect(await repeat).toMatchObject({
      kind: 'dispatched',
      isRepeat: true,
      job: { jobId: placed.job.jobId, intent: { nodeId: 'node-a' } },
    });
  });

  it('is refused when the driver lost a job without a node', async () => {
    const { first, second, addNode } = createRepeating(theirs);
    await addNode('node-a');
    await first.dispatch();
    void first.service.dispatch(first.request({ ...SAME, waitMs: 5_000 }));
    await first.clock.advance(1);
    first.service.dropAll();
    expect(second.refusal(await second.service.dispatch(second.request(SAME))).code).toBe(
      'SCHEDULER_DEPENDENCY_DOWN',
    );
  });

  it('is a new request when the first was withdrawn meanwhile', async () => {
    const { first, second, addNode } = createRepeating(async (job, instances) => {
      await instances.first.store.discard(job.jobId);
      return { kind: 'theirs' };
    });
    await addNode('node-a', 1);
    const { jobId: busy } = await first.dispatch();
    void first.service.dispatch(first.request({ ...SAME, waitMs: 5_000 }));
    await first.clock.advance(1);
    first.service.dropAll();
    await first.service.finish(first.last(busy), RESULT);
    expect(await second.service.dispatch(second.request({ ...SAME, waitMs: 10_000 }))).toMatchObject({
      kind: 'dispatched',
      isRepeat: false,
    });
  });

  it('offers no audio when it brought none or has no room', async () => {
    const { first, second, addNode, offered } = createRepeating(theirs);
    await addNode('node-a', 20);
    await first.dispatch(SAME);
    const { audio: _, ...bare } = second.request(SAME);
    expect((await second.service.dispatch(bare)).kind).toBe('dispatched');
    while (second.audio.put(`filler-${second.audio.size()}`, 'acme', Buffer.alloc(100_000)) === 'held') {}
    expect((await second.service.dispatch(second.request(SAME))).kind).toBe('dispatched');
    expect(offered).toEqual([]);
  });

  it('is a conflict when its body differs', async () => {
    const { first, second, addNode, claimed } = createRepeating(theirs);
    await addNode('node-a', 2);
    await first.dispatch(SAME);
    const other = second.request({ ...SAME, fingerprint: 'g' });
    expect(second.refusal(await second.service.dispatch(other)).code).toBe('IDEMPOTENCY_CONFLICT');
    expect(claimed).toEqual([]);
  });

  it('gets the result without a claim', async () => {
    const { first, second, addNode, claimed } = createRepeating(theirs);
    await addNode('node-a');
    const { jobId } = await first.dispatch(SAME);
    await first.service.finish(first.last(jobId), RESULT);
    expect(await second.service.dispatch(second.request(SAME))).toMatchObject({
      kind: 'dispatched',
      isRepeat: true,
      job: { jobId, result: RESULT },
    });
    expect(claimed).toEqual([]);
  });

  it('is refused while its driver is unknown', async () => {
    const { first, second, addNode } = createRepeating(() => Promise.reject(new Error('down')));
    await addNode('node-a', 2);
    await first.dispatch(SAME);
    expect(second.refusal(await second.service.dispatch(second.request(SAME))).code).toBe(
      'SCHEDULER_DEPENDENCY_DOWN',
    );
    expect(second.audio.size()).toBe(0);
  });
});

describe('a repeat of a request whose job has no living driver', () => {
  it('takes it over, and brings the audio for a retry', async () => {
    const { first, second, addNode } = createRepeating(ours);
    await addNode('node-a');
    const { jobId } = await first.dispatch(SAME);
    first.service.dropAll();
    await addNode('node-b');
    expect(await second.service.dispatch(second.request(SAME))).toMatchObject({
      kind: 'dispatched',
      isRepeat: true,
      job: { jobId, state: 'RESERVED' },
    });
    expect(second.service.drives(jobId)).toBe(true);
    await first.clock.advance(3_100);
    expect(second.last(jobId)).toMatchObject({ nodeId: 'node-b', attempt: 2 });
    await second.service.finish(second.last(jobId), RESULT);
    expect(second.audio.size()).toBe(0);
  });

  it('brings the audio that a job in flight here waits for', async () => {
    const { first, second, addNode, takeOver, claimed } = createRepeating(ours);
    await addNode('node-a');
    const { jobId } = await first.dispatch(SAME);
    first.service.dropAll();
    await takeOver(jobId);
    await addNode('node-b');
    await first.clock.advance(3_100);
    expect(second.sent).toEqual([]);
    expect(await second.service.dispatch(second.request(SAME))).toMatchObject({
      isRepeat: true,
      job: { jobId },
    });
    await first.clock.advance(10);
    expect(second.last(jobId)).toMatchObject({ nodeId: 'node-b', attempt: 2 });
    expect(claimed).toEqual([]);
  });

  it('takes it over once for two concurrent repeats', async () => {
    const { first, second, addNode } = createRepeating(ours);
    await addNode('node-a');
    const { jobId } = await first.dispatch(SAME);
    first.service.dropAll();
    const repeats = await Promise.all([1, 2].map(() => second.service.dispatch(second.request(SAME))));
    expect(repeats.map((repeat) => repeat.kind === 'dispatched' && repeat.job.jobId)).toEqual([jobId, jobId]);
    expect(second.service.inFlight()).toBe(1);
    expect(second.audio.size()).toBe(4);
  });

  it('keeps no audio when the job is already over', async () => {
    const { first, second, addNode } = createRepeating(async (job) => ({
      kind: 'ours',
      job: { ...job, state: 'RELEASED' },
    }));
    await addNode('node-a', 2);
    await first.dispatch(SAME);
    expect((await second.service.dispatch(second.request(SAME))).kind).toBe('dispatched');
    expect(second.audio.size()).toBe(0);
    expect(second.service.inFlight()).toBe(0);
  });
});

describe('a repeat of a request whose job ends during the claim', () => {
  it('gets the result', async () => {
    const { first, second, addNode } = createRepeating(async (job, { first: driver }) => {
      await driver.service.finish(driver.last(job.jobId), RESULT);
      return { kind: 'over' };
    });
    await addNode('node-a', 2);
    const { jobId } = await first.dispatch(SAME);
    expect(await second.service.dispatch(second.request(SAME))).toMatchObject({
      kind: 'dispatched',
      isRepeat: true,
      job: { jobId, result: RESULT },
    });
  });

  it('is a new job if the first failed', async () => {
    const { first, second, addNode } = createRepeating(async (job, { first: driver }) => {
      await driver.service.cancel(job.jobId, 'x');
      return { kind: 'over' };
    });
    await addNode('node-a', 2);
    const { jobId } = await first.dispatch(SAME);
    const again = await second.service.dispatch(second.request(SAME));
    expect(again).toMatchObject({ kind: 'dispatched', isRepeat: false });
    expect(again.kind === 'dispatched' && again.job.jobId).not.toBe(jobId);
    expect(second.sent).toHaveLength(1);
  });

  it('is dispatched anew only once', async () => {
    // Each bound job fails, and another instance has bound the request again by then.
    const { first, second, addNode, claimed } = createRepeating(async (job, { first: driver }) => {
      await driver.service.cancel(job.jobId, 'x');
      await driver.dispatch(SAME);
      return { kind: 'over' };
    });
    await addNode('node-a', 9);
    await first.dispatch(SAME);
    expect(second.refusal(await second.service.dispatch(second.request(SAME))).code).toBe(
      'SCHEDULER_DEPENDENCY_DOWN',
    );
    expect(claimed).toHaveLength(2);
    // A further repeat may be dispatched anew once again.
    const request = second.request(SAME);
    for (const claims of [4, 6]) {
      expect((await second.service.dispatch(request)).kind).toBe('refused');
      expect(claimed).toHaveLength(claims);
    }
  });

  it('is refused when the job is not over', async () => {
    const { first, second, addNode, claimed } = createRepeating(async () => ({ kind: 'over' }));
    await addNode('node-a', 2);
    await first.dispatch(SAME);
    expect(second.refusal(await second.service.dispatch(second.request(SAME))).code).toBe(
      'SCHEDULER_DEPENDENCY_DOWN',
    );
    expect(claimed).toHaveLength(1);
  });
});
