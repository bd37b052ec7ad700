/** Each stage of a job is measured once, from a defined start to a defined end. */
import { describe, expect, it } from 'vitest';
import { createRig, legacyProfile, RESULT, type Rig } from '../rigs/rig.ts';

const STAGES = 'scheduler_stage_seconds';
const stages = (rig: Rig) =>
  Object.fromEntries(
    ['wait', 'select', 'reserve', 'send', 'ack', 'run', 'total'].map((stage) => [
      stage,
      rig.observed(STAGES, stage),
    ]),
  );

/** Ledger and link answer after a delay. */
const slowLedger = (ms: number) =>
  ({
    wrapLedger: (ledger, clock) => ({
      ...ledger,
      reserve: (...given) =>
        new Promise<Awaited<ReturnType<typeof ledger.reserve>>>((resolve) => {
          clock.after(ms, async () => resolve(await ledger.reserve(...given)));
        }),
    }),
  }) satisfies Parameters<typeof createRig>[0];

describe('stages of a job', () => {
  it('are each measured once and add up to the total', async () => {
    const rig = createRig(slowLedger(3));
    await rig.addNode('node-a');
    rig.onDelivery('node-a', async () => {
      await new Promise<void>((resolve) => rig.clock.after(4, resolve));
      return { kind: 'written' };
    });
    const dispatching = rig.dispatch();
    await rig.clock.advance(7);
    const job = await dispatching;
    await rig.clock.advance(10);
    await rig.service.acknowledge(rig.last(job.jobId));
    await rig.clock.advance(200);
    await rig.service.finish(rig.last(job.jobId), RESULT);
    expect(stages(rig)).toEqual({
      wait: [],
      select: [0],
      reserve: [3],
      send: [4],
      // Measured from the send, not from the write of DISPATCHED.
      ack: [14],
      run: [200],
      total: [217],
    });
    expect(rig.observed('scheduler_dispatch_latency_seconds')).toEqual([3]);
  });

  it('run from the send on a legacy node, without an ack stage', async () => {
    const rig = createRig();
    await rig.addNode('node-old', 1, legacyProfile());
    const job = await rig.dispatch();
    await rig.clock.advance(120);
    await rig.service.finish(rig.last(job.jobId), RESULT);
    expect(stages(rig)).toMatchObject({ ack: [], run: [120], total: [120] });
  });

  it('are measured per attempt, the total once', async () => {
    const rig = createRig();
    await rig.addNode('node-a');
    await rig.addNode('node-b');
    const job = await rig.dispatch();
    const first = rig.last(job.jobId);
    await rig.service.acknowledge(first);
    await rig.clock.advance(50);
    await rig.service.fail(first, { code: 'PROCESSING_ERROR', message: 'no' });
    const second = rig.last(job.jobId);
    expect(second.attempt).toBe(2);
    await rig.clock.advance(5);
    await rig.service.acknowledge(second);
    await rig.clock.advance(30);
    await rig.service.finish(second, RESULT);
    expect(stages(rig)).toMatchObject({
      select: [0, 0],
      reserve: [0, 0],
      send: [0, 0],
      ack: [0, 5],
      run: [50, 30],
      total: [85],
    });
  });

  it('of a second attempt do not start with the first', async () => {
    const rig = createRig();
    await rig.addNode('node-a');
    await rig.addNode('node-b');
    const job = await rig.dispatch();
    const first = rig.last(job.jobId);
    await rig.service.acknowledge(first);
    await rig.clock.advance(50);
    await rig.service.fail(first, { code: 'PROCESSING_ERROR', message: 'no' });
    await rig.clock.advance(30);
    await rig.service.finish(rig.last(job.jobId), RESULT);
    expect(stages(rig)).toMatchObject({ ack: [0], run: [50, 30], total: [80] });
  });

  it('include the wait for a slot only for jobs that waited', async () => {
    const rig = createRig();
    await rig.addNode('node-a');
    const job = await rig.dispatch();
    const waiting = rig.dispatch({ waitMs: 5_000 });
    await rig.clock.advance(700);
    await rig.service.finish(rig.last(job.jobId), RESULT);
    await rig.clock.advance(300);
    await waiting;
    const [waited] = rig.observed(STAGES, 'wait');
    expect(rig.observed(STAGES, 'wait')).toHaveLength(1);
    expect(waited).toBeGreaterThanOrEqual(700);
    expect(waited).toBeLessThan(1_000);
  });

  it('have a total for failed jobs', async () => {
    const rig = createRig();
    await rig.addNode('node-a');
    const job = await rig.dispatch();
    await rig.clock.advance(40);
    await rig.service.cancel(job.jobId, 'enough');
    expect(stages(rig)).toMatchObject({ run: [], total: [40] });
  });
});

describe('the first reserve of a job', () => {
  it('is counted by its result, later ones are not', async () => {
    const rig = createRig();
    await rig.addNode('node-a', 1);
    await rig.addNode('node-b', 1);
    // In the view both are free; in the ledger one is full.
    await rig.ledger.reserve('node-a', 'taken:1', 60_000);
    for (
      let at = 0;
      at < 20 && (rig.counts.get('scheduler_reserve_first_try_total{fail}') ?? 0) === 0;
      at += 1
    ) {
      rig.fleet.setLoad('node-a', { used: 0, max: 1 });
      const job = await rig.dispatch();
      await rig.service.finish(rig.last(job.jobId), RESULT);
    }
    expect(rig.counts.get('scheduler_reserve_first_try_total{fail}')).toBe(1);
    const tries = ['success', 'fail'].map(
      (result) => rig.counts.get(`scheduler_reserve_first_try_total{${result}}`) ?? 0,
    );
    const jobs = rig.counts.get('scheduler_jobs_admitted_total');
    expect((tries[0] ?? 0) + (tries[1] ?? 0)).toBe(jobs);
    expect(rig.counts.get('scheduler_reserve_attempt_total{success}')).toBe(jobs);
  });
});

describe('slow paths', () => {
  it('include dispatch and result, but not intended waits', async () => {
    const rig = createRig(slowLedger(80));
    await rig.addNode('node-a');
    const first = rig.dispatch();
    await rig.clock.advance(80);
    const job = await first;
    expect(rig.timed).toContainEqual({ name: 'dispatch', ms: 80 });
    const second = rig.dispatch({ waitMs: 5_000 });
    await rig.clock.advance(500);
    await rig.service.finish(rig.last(job.jobId), RESULT);
    await rig.clock.advance(500);
    await second;
    expect(rig.timed.filter(({ name }) => name === 'dispatch')).toHaveLength(1);
    expect(rig.timed.filter(({ name }) => name === 'result')).toHaveLength(1);
  });

  it('include the wait of a repeat for the first request', async () => {
    const rig = createRig();
    await rig.addNode('node-a', 2);
    rig.onDelivery('node-a', async () => {
      await new Promise<void>((resolve) => rig.clock.after(60, resolve));
      return { kind: 'written' };
    });
    const request = rig.request({ requestId: 'req-1', fingerprint: 'same' });
    const first = rig.service.dispatch(request);
    await rig.clock.advance(20);
    const repeat = rig.service.dispatch(request);
    await rig.clock.advance(40);
    expect(await repeat).toMatchObject({ kind: 'dispatched', isRepeat: true });
    await first;
    expect(rig.timed).toContainEqual({ name: 'request_single_flight', ms: 40 });
  });
});
