/** A job from request to outcome without faults, and the refusals. */
import { describe, expect, it } from 'vitest';
import { isOutcome } from '../../../src/domain/job.ts';
import { createRig, legacyProfile, need, profile, RESULT, SETTINGS } from '../rigs/rig.ts';

describe('the lifecycle of a job', () => {
  it('passes through the states of the table, with times and nodes', async () => {
    const rig = createRig();
    await rig.addNode('node-a');
    const job = await rig.dispatch();
    expect(job.state).toBe('DISPATCHED');
    const answer = rig.last(job.jobId);
    expect(answer).toMatchObject({ nodeId: 'node-a', attempt: 1 });
    await rig.clock.advance(10);
    expect((await rig.service.acknowledge(answer)).kind).toBe('accepted');
    expect(await rig.state(job.jobId)).toBe('RUNNING');
    await rig.service.finish(answer, RESULT);
    const done = await rig.store.get(job.jobId);
    expect(done?.state).toBe('RELEASED');
    expect(done?.result).toEqual(RESULT);
    expect(done?.timeline.map((entry) => entry.state)).toEqual([
      'CREATED',
      'RESERVED',
      'DISPATCHED',
      'RUNNING',
      'FINISHED',
      'RELEASED',
    ]);
    expect(done?.timeline.at(3)).toMatchObject({ nodeId: 'node-a', attempt: 1 });
  });

  it('passes through RUNNING when a result arrives without acknowledgement', async () => {
    const rig = createRig();
    await rig.addNode('node-a');
    const job = await rig.dispatch();
    await rig.service.finish(rig.last(job.jobId), RESULT);
    const states = (await rig.store.get(job.jobId))?.timeline.map((entry) => entry.state);
    expect(states?.slice(-4)).toEqual(['DISPATCHED', 'RUNNING', 'FINISHED', 'RELEASED']);
  });

  it('ends at the deadline of its request, and never later than its own', async () => {
    const rig = createRig();
    await rig.addNode('node-a', 2);
    const [soon, late] = [rig.clock.now() + 4_000, rig.clock.now() + 10 * SETTINGS.jobDeadlineMs];
    const first = await rig.dispatch({ deadlineAt: soon });
    const second = await rig.dispatch({ deadlineAt: late });
    expect(second.deadlineAt).toBe(second.createdAt + SETTINGS.jobDeadlineMs);
    await rig.service.acknowledge(rig.last(first.jobId));
    await rig.clock.advance(3_900);
    expect(await rig.state(first.jobId)).toBe('RUNNING');
    await rig.clock.advance(200);
    expect((await rig.store.get(first.jobId))?.failure?.code).toBe('JOB_TIMEOUT');
  });

  it("writes result and release in one move, beside the slot's release", async () => {
    const written: string[] = [];
    const rig = createRig({
      wrapStore: (store) => ({
        ...store,
        async move(jobId, expected, change) {
          if (change.state === 'RELEASED')
            await new Promise((resolve) => rig.clock.after(50, () => resolve(1)));
          written.push(change.state);
          return store.move(jobId, expected, change);
        },
      }),
    });
    await rig.addNode('node-a');
    const dispatching = rig.dispatch();
    const job = await dispatching;
    expect(rig.leaseToReplay(job.jobId, 1)).toBeDefined();
    const finishing = rig.service.finish(rig.last(job.jobId), RESULT);
    await rig.clock.advance(10);
    // The job must not reserve the slot again meanwhile, as after a loss.
    expect([rig.service.drives(job.jobId), rig.leaseToReplay(job.jobId, 1)]).toEqual([true, undefined]);
    expect([await rig.used('node-a'), await rig.state(job.jobId)]).toEqual([0, 'DISPATCHED']);
    await rig.clock.advance(50);
    expect((await finishing).kind).toBe('accepted');
    expect(written).toEqual(['DISPATCHED', 'RELEASED']);
    expect(rig.published.filter(isOutcome).map(({ state }) => state)).toEqual(['RELEASED']);
  });

  it('accepts a result that arrives before the reply of the delivery', async () => {
    const rig = createRig();
    await rig.addNode('node-a');
    const answers: string[] = [];
    rig.onDelivery('node-a', async ({ job, attempt, nodeId }) => {
      answers.push((await rig.service.acknowledge({ jobId: job.jobId, attempt, nodeId })).kind);
      answers.push((await rig.service.finish({ jobId: job.jobId, attempt, nodeId }, RESULT)).kind);
      return { kind: 'written' };
    });
    const job = await rig.dispatch();
    expect(answers).toEqual(['accepted', 'accepted']);
    expect(await rig.state(job.jobId)).toBe('RELEASED');
    expect(await rig.used('node-a')).toBe(0);
  });

  it('holds the audio until the outcome', async () => {
    const rig = createRig();
    await rig.addNode('node-a');
    const job = await rig.dispatch();
    expect(rig.audio.get(job.jobId)).toEqual(Buffer.from([1, 2, 3, 4]));
    await rig.service.finish(rig.last(job.jobId), RESULT);
    expect(rig.audio.size()).toBe(0);
  });

  it('refuses with NO_CAPABLE_NODE when no node has the languages', async () => {
    const rig = createRig();
    await rig.addNode('node-a');
    const unsupported = rig.request({
      need: need({ directions: [{ source: 'fr', target: 'zh' }] }),
      waitMs: 5_000,
    });
    const refusal = rig.refusal(await rig.service.dispatch(unsupported));
    expect(refusal.code).toBe('NO_CAPABLE_NODE');
    expect(refusal.message).toContain('semantic(fr) + nmt(fr->zh)');
    expect(refusal.reasons).toEqual([
      { reason: 'semantic_lang_unsupported', count: 1, sampleNodeIds: ['node-a'] },
    ]);
    expect(rig.audio.size()).toBe(0);
  });

  it('refuses with ALL_CANDIDATES_FULL_OR_FAILED when capable nodes are full', async () => {
    const rig = createRig();
    await rig.addNode('node-a');
    await rig.dispatch();
    const refusal = rig.refusal(await rig.service.dispatch(rig.request()));
    expect(refusal.code).toBe('ALL_CANDIDATES_FULL_OR_FAILED');
    expect(refusal.reasons).toEqual([{ reason: 'capacity_exceeded', count: 1, sampleNodeIds: ['node-a'] }]);
  });

  it('prefers the requested node, and fails without it when strict', async () => {
    const rig = createRig();
    await rig.addNode('node-a', 4);
    await rig.addNode('node-b', 4);
    await rig.addNode('node-fr', 4, profile({ semantic: ['fr'] }));
    for (let i = 0; i < 4; i++) {
      expect((await rig.dispatch({ need: need({ preferredNodeId: 'node-b' }) })).fence?.nodeId).toBe(
        'node-b',
      );
    }
    expect((await rig.dispatch({ need: need({ preferredNodeId: 'node-b' }) })).fence?.nodeId).toBe('node-a');
    expect((await rig.dispatch({ need: need({ preferredNodeId: 'node-fr' }) })).fence?.nodeId).toBe('node-a');
    const strict = rig.request({ need: need({ preferredNodeId: 'node-fr', isStrict: true }) });
    expect(rig.refusal(await rig.service.dispatch(strict)).code).toBe('PREFERRED_NODE_NOT_CAPABLE');
  });

  it('avoids the last node of a session within the spread window', async () => {
    const rig = createRig({ settings: { isSpreadEnabled: true } });
    await rig.addNode('node-a', 100);
    await rig.addNode('node-b', 100);
    const nodes: (string | undefined)[] = [];
    for (let i = 0; i < 20; i++) nodes.push((await rig.dispatch()).fence?.nodeId);
    for (let i = 1; i < nodes.length; i++) expect(nodes[i]).not.toBe(nodes[i - 1]);
    rig.fleet.remove('node-a');
    expect((await rig.dispatch()).fence?.nodeId).toBe('node-b');
    expect((await rig.dispatch()).fence?.nodeId).toBe('node-b');
  });

  it.each([true, false])('cancels a timed-out node if that is configured: %s', async (isWanted) => {
    const rig = createRig({ settings: { cancelsTimedOut: isWanted } });
    await rig.addNode('node-a', 1, legacyProfile());
    const job = await rig.dispatch();
    await rig.clock.advance(61_000);
    expect((await rig.store.get(job.jobId))?.failure?.code).toBe('JOB_TIMEOUT');
    expect(rig.cancelled.map(({ reason }) => reason)).toEqual(isWanted ? ['JOB_TIMEOUT'] : []);
  });

  it('a cancel fails the job, and a late result changes nothing', async () => {
    const rig = createRig();
    await rig.addNode('node-a');
    const job = await rig.dispatch();
    const answer = rig.last(job.jobId);
    await rig.service.acknowledge(answer);
    expect(await rig.service.cancel(job.jobId, 'user left')).toEqual({ kind: 'cancelled' });
    expect(rig.cancelled.at(-1)).toMatchObject({ nodeId: 'node-a', jobId: job.jobId });
    expect((await rig.store.get(job.jobId))?.failure?.code).toBe('JOB_CANCELLED');
    expect(await rig.used('node-a')).toBe(1);
    expect(await rig.service.finish(answer, RESULT)).toEqual({ kind: 'ignored', reason: 'settled' });
    expect(await rig.used('node-a')).toBe(0);
    expect(await rig.service.cancel(job.jobId, 'again')).toEqual({ kind: 'settled' });
    expect(await rig.service.cancel('job-none', 'x')).toEqual({ kind: 'unknown_job' });
  });

  it('drain resolves at the last outcome or returns the rest', async () => {
    const rig = createRig();
    await rig.addNode('node-a', 2);
    const job = await rig.dispatch();
    const drained = rig.service.drain(30_000);
    await rig.clock.advance(1_000);
    await rig.service.finish(rig.last(job.jobId), RESULT);
    expect(await drained).toBe(0);
    await rig.dispatch();
    const cut = rig.service.drain(1_000);
    await rig.clock.advance(1_100);
    expect(await cut).toBe(1);
  });
});
