/** The invariants of the engine, by name. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isSettled } from '../../../src/domain/job.ts';
import { faulty } from '../../support/faulty.ts';
import { createRig, legacyProfile, need, profile, RESULT, type Rig } from '../rigs/rig.ts';

const FAILURE = { code: 'PROCESSING_ERROR', message: 'boom' };

type Act =
  | { kind: 'dispatch'; requestId: number; waitMs: number }
  | { kind: 'ack' | 'finish' | 'fail' | 'overload' | 'cancel' | 'late'; pick: number }
  | { kind: 'advance'; ms: number }
  | { kind: 'lose' | 'return'; pick: number };

const act: fc.Arbitrary<Act> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('dispatch' as const),
      requestId: fc.nat(30),
      waitMs: fc.constantFrom(0, 0, 2_000),
    }),
  },
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constantFrom(
        'ack' as const,
        'finish' as const,
        'fail' as const,
        'overload' as const,
        'cancel' as const,
        'late' as const,
      ),
      pick: fc.nat(200),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('advance' as const),
      ms: fc.constantFrom(1, 500, 3_100, 20_000, 61_000),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constantFrom('lose' as const, 'return' as const), pick: fc.nat(10) }),
  },
);

const NODES = ['node-a', 'node-b', 'node-c', 'node-d'];
const SLOTS = 2;

async function play(rig: Rig, acts: readonly Act[], check: () => Promise<void>): Promise<void> {
  for (const [i, nodeId] of NODES.entries())
    await rig.addNode(nodeId, SLOTS, i === 3 ? legacyProfile() : profile());
  const pending: Promise<unknown>[] = [];
  for (const step of acts) {
    const assignment = 'pick' in step ? rig.sent[step.pick % Math.max(1, rig.sent.length)] : undefined;
    const answer = assignment && {
      nodeId: assignment.nodeId,
      jobId: assignment.job.jobId,
      attempt: assignment.attempt,
    };
    if (step.kind === 'dispatch') {
      const requestId = `req-${step.requestId}`;
      pending.push(
        Promise.resolve(
          rig.service.dispatch(rig.request({ requestId, fingerprint: requestId, waitMs: step.waitMs })),
        ),
      );
    } else if (step.kind === 'advance') await rig.clock.advance(step.ms);
    else if (step.kind === 'lose') rig.service.nodeLeft(NODES[step.pick % NODES.length] ?? '', 0);
    else if (step.kind === 'return') rig.service.nodeReturned(NODES[step.pick % NODES.length] ?? '', []);
    else if (answer !== undefined) {
      if (step.kind === 'ack') pending.push(rig.service.acknowledge(answer));
      if (step.kind === 'finish') pending.push(rig.service.finish(answer, RESULT));
      if (step.kind === 'fail') pending.push(rig.service.fail(answer, FAILURE));
      if (step.kind === 'overload')
        pending.push(rig.service.fail(answer, { code: 'NODE_OVERLOADED', message: '' }));
      if (step.kind === 'cancel') pending.push(rig.service.cancel(answer.jobId, 'x'));
      if (step.kind === 'late')
        pending.push(rig.service.finish({ ...answer, attempt: answer.attempt + 1 }, RESULT));
    }
    await check();
  }
  await rig.clock.advance(200_000);
  await Promise.all(pending);
}

describe('invariants of the engine', () => {
  it('I1, I2, I3 hold for random nodes, clients and delays', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(act, { maxLength: 60 }), async (acts) => {
        const rig = createRig();
        const outcomes = new Map<string, number>();
        await play(rig, acts, async () => {
          for (const nodeId of NODES) expect(await rig.used(nodeId)).toBeLessThanOrEqual(SLOTS);
        });
        for (const nodeId of NODES) expect(await rig.used(nodeId)).toBe(0);
        expect(rig.service.inFlight()).toBe(0);
        expect(rig.service.waiting()).toBe(0);
        expect(rig.audio.size()).toBe(0);
        for (const { job } of rig.sent) {
          const record = await rig.store.get(job.jobId);
          expect(record === undefined || isSettled(record.state)).toBe(true);
          const ends = record?.timeline.filter(
            ({ state }) => state === 'FINISHED' || state === 'FAILED',
          ).length;
          outcomes.set(job.jobId, ends ?? 1);
        }
        for (const ends of outcomes.values()) expect(ends).toBe(1);
      }),
      { numRuns: 150 },
    );
  });

  it('I1 no oversell: a thousand concurrent requests on ten slots take ten', async () => {
    const rig = createRig();
    for (let i = 0; i < 5; i++) await rig.addNode(`node-${i}`, 2);
    const outcomes = await Promise.all(
      Array.from({ length: 1_000 }, () => rig.service.dispatch(rig.request())),
    );
    expect(outcomes.filter(({ kind }) => kind === 'dispatched')).toHaveLength(10);
    expect(rig.sent).toHaveLength(10);
  });

  it('I3 one outcome: concurrent repeats of a request are one job', async () => {
    const rig = createRig();
    await rig.addNode('node-a', 50);
    const same = rig.request({ requestId: 'req-1', fingerprint: 'f' });
    const outcomes = await Promise.all(Array.from({ length: 50 }, () => rig.service.dispatch(same)));
    const jobs = outcomes.map((outcome) => (outcome.kind === 'dispatched' ? outcome.job : undefined));
    expect(new Set(jobs.map((job) => job?.jobId)).size).toBe(1);
    for (const job of jobs) expect(job?.fence?.nodeId).toBe('node-a');
    expect(rig.sent).toHaveLength(1);
    expect(await rig.used('node-a')).toBe(1);
  });

  it('I3 one outcome: a repeat gets the same result until its binding ends', async () => {
    const rig = createRig();
    await rig.addNode('node-a');
    const same = rig.request({ requestId: 'req-1', fingerprint: 'f' });
    const job = await rig.dispatch(same);
    await rig.service.finish(rig.last(job.jobId), RESULT);
    const again = await rig.service.dispatch(same);
    expect(again).toMatchObject({
      kind: 'dispatched',
      isRepeat: true,
      job: { jobId: job.jobId, result: RESULT },
    });
    rig.fleet.remove('node-a');
    expect(await rig.service.dispatch(same)).toMatchObject({ kind: 'dispatched', job: { jobId: job.jobId } });
    await rig.clock.advance(90_001);
    expect((await rig.service.dispatch(same)).kind).toBe('refused');
  });

  it('I3 one outcome: the same id with another body is a conflict', async () => {
    const rig = createRig();
    await rig.addNode('node-a', 5);
    const job = await rig.dispatch({ requestId: 'req-1', fingerprint: 'one' });
    const other = rig.request({ requestId: 'req-1', fingerprint: 'two' });
    expect(rig.refusal(await rig.service.dispatch(other)).code).toBe('IDEMPOTENCY_CONFLICT');
    expect(await rig.used('node-a')).toBe(1);
    const foreign = await rig.dispatch({
      tenantId: 'acme',
      requestId: 'req-1',
      fingerprint: 'one',
      need: need({ tenantId: 'acme' }),
    });
    expect(foreign.jobId).not.toBe(job.jobId);
  });

  it('I3 one outcome: a failed job unbinds its request', async () => {
    const rig = createRig({ settings: { maxRetry: 0 } });
    await rig.addNode('node-a');
    await rig.addNode('node-b');
    const same = rig.request({ requestId: 'req-1', fingerprint: 'f' });
    const job = await rig.dispatch(same);
    await rig.service.fail(rig.last(job.jobId), FAILURE);
    const again = await rig.dispatch(same);
    expect(again.jobId).not.toBe(job.jobId);
  });

  it('I3 one outcome: every job ends at its deadline when nodes are silent', async () => {
    const rig = createRig();
    for (const nodeId of NODES) await rig.addNode(nodeId, 4);
    const jobs = await Promise.all(Array.from({ length: 8 }, () => rig.dispatch()));
    await rig.clock.advance(90_050);
    for (const { jobId } of jobs) {
      const record = await rig.store.get(jobId);
      expect(record?.failure).toBeDefined();
      const end = record?.timeline.find(({ state }) => state === 'FAILED');
      expect((end?.at ?? 0) - (record?.createdAt ?? 0)).toBeLessThanOrEqual(90_040);
    }
  });

  it('I4 fencing: reports of wrong nodes or attempts change nothing', async () => {
    const rig = createRig();
    await rig.addNode('node-a');
    await rig.addNode('node-b');
    const job = await rig.dispatch();
    const right = rig.last(job.jobId);
    const before = JSON.stringify((await rig.store.get(job.jobId))?.timeline);
    for (const wrong of [
      { ...right, nodeId: 'node-x' },
      { ...right, attempt: 7 },
      { ...right, attempt: 0 },
    ]) {
      expect((await rig.service.acknowledge(wrong)).kind).toBe('ignored');
      expect((await rig.service.finish(wrong, RESULT)).kind).toBe('ignored');
      expect((await rig.service.fail(wrong, FAILURE)).kind).toBe('ignored');
    }
    expect(JSON.stringify((await rig.store.get(job.jobId))?.timeline)).toBe(before);
    expect(rig.counts.get('scheduler_fenced_total{result}')).toBe(3);
    await rig.service.finish(right, RESULT);
    expect(await rig.service.finish(right, { ...RESULT, textTranslated: 'other' })).toEqual({
      kind: 'ignored',
      reason: 'settled',
    });
    expect((await rig.store.get(job.jobId))?.result).toEqual(RESULT);
  });

  it('I7 fail closed: a failing store refuses and leaves no slot taken', async () => {
    const rig = createRig({
      wrapStore: (store, clock) => faulty(store, { method: 'admit', at: [1], fault: 'throw' }, clock).port,
    });
    await rig.addNode('node-a');
    expect(rig.refusal(await rig.service.dispatch(rig.request())).code).toBe('SCHEDULER_DEPENDENCY_DOWN');
    expect(await rig.used('node-a')).toBe(0);
    expect(rig.audio.size()).toBe(0);
    expect((await rig.dispatch()).state).toBe('DISPATCHED');
  });

  it('I7 fail closed: a reserve that failed after its effect is released', async () => {
    const rig = createRig({
      wrapLedger: (ledger, clock) =>
        faulty(ledger, { method: 'reserve', at: [1], fault: 'throw_after_effect' }, clock).port,
    });
    await rig.addNode('node-a');
    await rig.addNode('node-b');
    const job = await rig.dispatch();
    const [other] = ['node-a', 'node-b'].filter((nodeId) => nodeId !== job.fence?.nodeId);
    expect(await rig.used(other ?? '')).toBe(0);
  });

  it('I11 bounded: jobs in flight stop at their limit with RATE_LIMITED', async () => {
    const rig = createRig({ maxInflight: 3 });
    await rig.addNode('node-a', 10);
    for (let i = 0; i < 3; i++) await rig.dispatch();
    expect(rig.refusal(await rig.service.dispatch(rig.request())).code).toBe('RATE_LIMITED');
    expect(await rig.used('node-a')).toBe(3);
  });
});
