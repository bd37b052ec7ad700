/** What happens to a job when its node fails, is silent, refuses, or disconnects. */
import { describe, expect, it } from 'vitest';
import { ANY_ATTEMPT } from '../../../src/domain/node-report.ts';
import { createRig, legacyProfile, profile, RESULT, SETTINGS } from '../rigs/rig.ts';

const FAILURE = { code: 'PROCESSING_ERROR', message: 'GPU lease timeout' };

describe('retries', () => {
  it('an attempt without acknowledgement goes to the next node', async () => {
    const rig = createRig();
    await rig.addNode('node-a');
    await rig.addNode('node-b');
    const job = await rig.dispatch();
    const first = rig.last(job.jobId);
    await rig.clock.advance(3_050);
    const second = rig.last(job.jobId);
    expect(second).toMatchObject({ attempt: 2 });
    expect(second.nodeId).not.toBe(first.nodeId);
    expect(rig.cancelled).toEqual([{ nodeId: first.nodeId, jobId: job.jobId, reason: 'superseded' }]);
    expect(rig.counts.get('scheduler_ack_timeout_total')).toBe(1);
    const { timeline } = (await rig.store.get(job.jobId)) ?? { timeline: [] };
    expect(timeline).toContainEqual(expect.objectContaining({ state: 'RETRYING', reason: 'ACK_TIMEOUT' }));
    expect(rig.outcomes).toContainEqual({ nodeId: first.nodeId, outcome: 'failed' });
    expect(await rig.service.acknowledge(first)).toEqual({ kind: 'ignored', reason: 'fenced' });
    await rig.service.acknowledge(second);
    await rig.service.finish(second, RESULT);
    expect(await rig.state(job.jobId)).toBe('RELEASED');
    await rig.clock.advance(SETTINGS.abandonedLeaseMs);
    expect([await rig.used('node-a'), await rig.used('node-b')]).toEqual([0, 0]);
  });

  it('a late result counts while no successor is dispatched', async () => {
    const rig = createRig();
    await rig.addNode('node-a');
    const job = await rig.dispatch();
    await rig.clock.advance(4_000);
    expect(await rig.state(job.jobId)).toBe('RETRYING');
    expect((await rig.service.acknowledge(rig.last(job.jobId))).kind).toBe('accepted');
    expect(await rig.state(job.jobId)).toBe('RUNNING');
    await rig.service.finish(rig.last(job.jobId), RESULT);
    expect((await rig.store.get(job.jobId))?.result).toEqual(RESULT);
    expect(rig.service.waiting()).toBe(0);
    expect(await rig.used('node-a')).toBe(0);
  });

  it('a failure is retried max_retry times, then fails the job', async () => {
    const rig = createRig();
    for (const nodeId of ['node-a', 'node-b', 'node-c', 'node-d']) await rig.addNode(nodeId);
    const job = await rig.dispatch();
    const visited = new Set<string>();
    for (let attempt = 1; attempt <= 3; attempt++) {
      const answer = rig.last(job.jobId);
      expect(answer.attempt).toBe(attempt);
      visited.add(answer.nodeId);
      await rig.service.fail(answer, FAILURE);
    }
    expect(visited.size).toBe(3);
    const failed = await rig.store.get(job.jobId);
    expect(failed?.state).toBe('RELEASED');
    expect(failed?.failure).toEqual(FAILURE);
    for (const nodeId of visited) expect(await rig.used(nodeId)).toBe(0);
  });

  it('a repeated failure report retries once', async () => {
    const rig = createRig();
    for (const nodeId of ['node-a', 'node-b', 'node-c']) await rig.addNode(nodeId);
    const job = await rig.dispatch();
    const first = rig.last(job.jobId);
    await rig.service.fail(first, FAILURE);
    expect(await rig.service.fail(first, FAILURE)).toEqual({ kind: 'ignored', reason: 'fenced' });
    expect(rig.last(job.jobId).attempt).toBe(2);
  });

  it('an input failure is not retried', async () => {
    const rig = createRig();
    await rig.addNode('node-a');
    await rig.addNode('node-b');
    for (const message of [
      'Opus decoding failed: x',
      'Unsupported audio format: flac',
      'ASR_STEP_INVALID_LANG_CONTRACT y',
    ]) {
      const job = await rig.dispatch();
      await rig.service.fail(rig.last(job.jobId), { code: 'PROCESSING_ERROR', message });
      expect((await rig.store.get(job.jobId))?.failure?.message).toBe(message);
      expect(rig.last(job.jobId).attempt).toBe(1);
    }
    expect(rig.outcomes.map(({ outcome }) => outcome)).toEqual(['unproven', 'unproven', 'unproven']);
  });

  it('a lost node without outcome counts neither as success nor failure', async () => {
    const rig = createRig();
    await rig.addNode('node-a');
    const job = await rig.dispatch();
    rig.service.nodeLeft('node-a', 0);
    expect(rig.outcomes).toEqual([{ nodeId: 'node-a', outcome: 'unproven' }]);
    expect(rig.last(job.jobId).attempt).toBe(1);
  });

  it('duplicate ids are not failures of the job', async () => {
    const rig = createRig({ settings: { maxRetry: 0 } });
    for (const nodeId of ['node-a', 'node-b', 'node-c']) await rig.addNode(nodeId);
    const job = await rig.dispatch();
    await rig.service.fail(rig.last(job.jobId), { code: 'PROCESSING_ERROR', message: 'DUPLICATE_JOB_ID' });
    await rig.service.fail(rig.last(job.jobId), {
      code: 'PROCESSING_ERROR',
      message: 'DUPLICATE_UTTERANCE_INDEX 3',
    });
    const third = rig.last(job.jobId);
    expect(third.attempt).toBe(3);
    expect((await rig.service.finish(third, RESULT)).kind).toBe('accepted');
    expect(rig.outcomes.filter(({ outcome }) => outcome === 'failed')).toEqual([]);
  });

  it('a result without translation is retried, and used if nothing is better', async () => {
    const rig = createRig();
    await rig.addNode('node-a');
    await rig.addNode('node-b');
    const untranslated = { ...RESULT, textTranslated: '' };
    const job = await rig.dispatch();
    await rig.service.finish(rig.last(job.jobId), untranslated);
    const second = rig.last(job.jobId);
    expect(second.attempt).toBe(2);
    await rig.service.finish(second, RESULT);
    expect((await rig.store.get(job.jobId))?.result).toEqual(RESULT);

    const again = await rig.dispatch();
    await rig.service.finish(rig.last(again.jobId), untranslated);
    await rig.service.finish(rig.last(again.jobId), untranslated);
    expect(await rig.store.get(again.jobId)).toMatchObject({ state: 'RELEASED', result: untranslated });
  });

  it('a result without translation is delivered at once, with the reason, if no other node can retry', async () => {
    const rig = createRig();
    await rig.addNode('node-a');
    const job = await rig.dispatch();
    const untranslated = { ...RESULT, textTranslated: '', details: { reason_codes: ['noisy'] } };
    await rig.service.finish(rig.last(job.jobId), untranslated);
    const settled = await rig.store.get(job.jobId);
    expect(settled).toMatchObject({
      state: 'RELEASED',
      result: { textAsr: RESULT.textAsr, details: { reason_codes: ['noisy', 'NO_TRANSLATION'] } },
    });
    expect(settled?.failure).toBeUndefined();
    expect(await rig.used('node-a')).toBe(0);
  });

  it('a result without translation waits for a capable node that is full', async () => {
    const rig = createRig();
    await rig.addNode('node-a', 1);
    await rig.addNode('node-b', 1);
    const [job] = [await rig.dispatch(), await rig.dispatch()];
    await rig.service.finish(rig.last(job.jobId), { ...RESULT, textTranslated: '' });
    expect(await rig.store.get(job.jobId)).toMatchObject({ state: 'RETRYING' });
    await rig.clock.advance(10_050);
    expect(await rig.store.get(job.jobId)).toMatchObject({
      state: 'RELEASED',
      result: { details: { reason_codes: ['NO_TRANSLATION'] } },
    });
  });

  it('a retry avoids legacy nodes that have a later utterance', async () => {
    const rig = createRig();
    await rig.addNode('node-old', 4, legacyProfile());
    const early = rig.request();
    const late = rig.request();
    expect((await rig.service.dispatch(late)).kind).toBe('dispatched');
    const refusal = rig.refusal(await rig.service.dispatch(early));
    expect(refusal.code).toBe('ALL_CANDIDATES_FULL_OR_FAILED');
    await rig.addNode('node-new', 4, legacyProfile());
    const job = await rig.dispatch(early);
    expect(job.fence?.nodeId).toBe('node-new');
  });

  it('the lease of a legacy node is committed at the socket write', async () => {
    const rig = createRig();
    await rig.addNode('node-old', 1, legacyProfile());
    const job = await rig.dispatch();
    await rig.clock.advance(30_000);
    expect(await rig.state(job.jobId)).toBe('DISPATCHED');
    expect(await rig.used('node-old')).toBe(1);
    await rig.service.finish(rig.last(job.jobId), RESULT);
    expect(await rig.state(job.jobId)).toBe('RELEASED');
  });

  it('a silent legacy node ends its job at the job timeout', async () => {
    const rig = createRig();
    await rig.addNode('node-old', 1, legacyProfile());
    await rig.addNode('node-b', 1, legacyProfile());
    const job = await rig.dispatch();
    await rig.clock.advance(60_050);
    expect((await rig.store.get(job.jobId))?.failure?.code).toBe('JOB_TIMEOUT');
    expect(rig.last(job.jobId).attempt).toBe(1);
  });

  it('an acknowledged attempt without result in time goes to another node', async () => {
    const rig = createRig();
    await rig.addNode('node-a');
    await rig.addNode('node-b');
    const job = await rig.dispatch();
    await rig.service.acknowledge(rig.last(job.jobId));
    await rig.clock.advance(60_050);
    expect(rig.last(job.jobId).attempt).toBe(2);
    await rig.service.finish(rig.last(job.jobId), RESULT);
    expect(await rig.state(job.jobId)).toBe('RELEASED');
  });

  it("a lost node's jobs are retried after the grace", async () => {
    const rig = createRig();
    await rig.addNode('node-a', 8);
    const jobs = [await rig.dispatch(), await rig.dispatch(), await rig.dispatch()];
    for (const { jobId } of jobs) await rig.service.acknowledge(rig.last(jobId));
    await rig.addNode('node-b', 8);
    rig.fleet.remove('node-a');
    rig.service.nodeLeft('node-a', 2_000);
    await rig.clock.advance(1_900);
    for (const { jobId } of jobs) expect(rig.last(jobId).attempt).toBe(1);
    rig.service.nodeReturned('node-a', [jobs[0]?.jobId ?? '', jobs[1]?.jobId ?? '']);
    await rig.clock.advance(0);
    expect(jobs.map(({ jobId }) => rig.last(jobId).attempt)).toEqual([1, 1, 2]);
    rig.service.nodeLeft('node-a', 2_000);
    await rig.clock.advance(2_050);
    expect(jobs.map(({ jobId }) => rig.last(jobId).nodeId)).toEqual(['node-b', 'node-b', 'node-b']);
  });

  it("a lost legacy node's jobs are retried without grace", async () => {
    const rig = createRig();
    await rig.addNode('node-old', 1, legacyProfile());
    const job = await rig.dispatch();
    await rig.addNode('node-b');
    rig.service.nodeLeft('node-old', 0);
    await rig.clock.advance(0);
    expect(rig.last(job.jobId)).toMatchObject({ nodeId: 'node-b', attempt: 2 });
  });

  it('a job that lost two nodes is not retried', async () => {
    const rig = createRig({ settings: { maxRetry: 10 } });
    for (const nodeId of ['node-a', 'node-b', 'node-c']) await rig.addNode(nodeId);
    const job = await rig.dispatch();
    for (let lost = 0; lost < 2; lost++) {
      rig.service.nodeLeft(rig.last(job.jobId).nodeId, 0);
      await rig.clock.advance(0);
    }
    expect((await rig.store.get(job.jobId))?.failure?.code).toBe('NODE_UNAVAILABLE');
    expect(rig.last(job.jobId).attempt).toBe(2);
  });

  it('retries stay within the budget', async () => {
    const rig = createRig({ settings: { retryBudget: { percent: 20, burst: 2 }, maxRetry: 1 } });
    for (let i = 0; i < 40; i++) await rig.addNode(`node-${i}`);
    let retried = 0;
    const jobs = 20;
    for (let i = 0; i < jobs; i++) {
      const job = await rig.dispatch();
      await rig.service.fail(rig.last(job.jobId), FAILURE);
      if (rig.last(job.jobId).attempt === 2) retried += 1;
    }
    expect(retried).toBe(2 + Math.floor((jobs - 1) * 0.2));
    expect(rig.counts.get('scheduler_retry_budget_exhausted_total')).toBe(jobs - retried);
  });

  it('an undeliverable job releases its slot and goes on', async () => {
    const rig = createRig();
    await rig.addNode('node-a');
    await rig.addNode('node-b');
    rig.onDelivery('node-a', () => ({ kind: 'undeliverable', reason: 'no socket' }));
    for (let i = 0; i < 4; i++) {
      const job = await rig.dispatch();
      expect(job.fence).toEqual({ nodeId: 'node-b', attempt: 1 });
      await rig.service.finish(rig.last(job.jobId), RESULT);
    }
    expect(await rig.used('node-a')).toBe(0);
  });

  it('a node with an unknown delivery is excluded for good', async () => {
    const rig = createRig();
    await rig.addNode('node-a');
    let sends = 0;
    rig.onDelivery('node-a', () => {
      sends += 1;
      return { kind: 'unknown', reason: 'timeout' };
    });
    expect((await rig.service.dispatch(rig.request())).kind).toBe('dispatched');
    expect(await rig.used('node-a')).toBe(1);
    await rig.clock.advance(SETTINGS.ackTimeoutMs + SETTINGS.abandonedLeaseMs);
    expect(await rig.used('node-a')).toBe(0);
    await rig.clock.advance(20_000);
    expect(sends).toBe(1);
  });

  it('an acknowledged attempt whose slot is taken is cancelled', async () => {
    const rig = createRig({ settings: { pendingTimeoutMs: 60_000 } });
    await rig.addNode('node-a');
    const job = await rig.dispatch();
    await rig.clock.advance(SETTINGS.ackTimeoutMs + SETTINGS.abandonedLeaseMs);
    await rig.ledger.reserve('node-a', 'other:1', 60_000);
    expect(await rig.service.acknowledge(rig.last(job.jobId))).toEqual({
      kind: 'ignored',
      reason: 'lease_lost',
    });
    expect(rig.cancelled.at(-1)).toMatchObject({ nodeId: 'node-a', reason: 'lease_lost' });
    expect(rig.counts.get('scheduler_leases_lost_total')).toBe(1);
  });

  it('a report with a wrong attempt is matched by node and job', async () => {
    const rig = createRig();
    await rig.addNode('node-a', 1, profile({ isLegacy: true, supports: [] }));
    const job = await rig.dispatch();
    const wrong = { nodeId: 'node-x', jobId: job.jobId, attempt: ANY_ATTEMPT };
    expect((await rig.service.finish(wrong, RESULT)).kind).toBe('ignored');
    const right = { nodeId: 'node-a', jobId: job.jobId, attempt: ANY_ATTEMPT };
    expect((await rig.service.finish(right, { ...RESULT, textAsr: '', textTranslated: '' })).kind).toBe(
      'accepted',
    );
  });
});
