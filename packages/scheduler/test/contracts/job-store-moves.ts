/** Contract of JobStore: compare-and-set on state and fence, and the fields that a move keeps. */
import { expect, it } from 'vitest';
import type { JobState } from '../../src/domain/job.ts';
import { fresh, times } from './harness.ts';
import { changeTo, dispatch, draftJob, draftRequest, expectedOf, moveOn, RESULT, run } from './job-draft.ts';
import type { StartJobStore } from './job-store.ts';

export function jobStoreMoves(start: StartJobStore): void {
  it('does not know a job that was never admitted or was discarded', async () => {
    const { store, now } = await start();
    const draft = draftJob(now());
    const move = () => store.move(draft.jobId, { state: 'CREATED', fenceAttempt: 0 }, changeTo('FAILED'));
    expect(await move()).toEqual({ kind: 'unknown_job' });
    expect(await store.get(draft.jobId)).toBeUndefined();
    await store.admit(draft);
    await store.discard(draft.jobId);
    expect(await move()).toEqual({ kind: 'unknown_job' });
    expect(await store.get(draft.jobId)).toBeUndefined();
  });

  it('a move sets the fields of its change and keeps the rest', async () => {
    const { store, now } = await start();
    const draft = draftRequest(now());
    const fence = { nodeId: 'node-a', attempt: 1 };
    await store.admit(draft);

    const reserved = await moveOn(store, draft.jobId, 'RESERVED', { intent: fence });
    expect(reserved).toMatchObject({ kind: 'moved', job: { state: 'RESERVED', intent: fence } });
    const dispatched = await moveOn(store, draft.jobId, 'DISPATCHED', { fence, intent: null });
    expect(dispatched).toMatchObject({ kind: 'moved', job: { state: 'DISPATCHED', fence } });
    expect((await store.get(draft.jobId))?.intent).toBeUndefined();
    const next = { nodeId: 'node-b', attempt: 2 };
    await moveOn(store, draft.jobId, 'RETRYING');
    await moveOn(store, draft.jobId, 'RESERVED', { intent: next });
    expect(await store.get(draft.jobId)).toMatchObject({ fence, intent: next });
    await moveOn(store, draft.jobId, 'RUNNING');
    await moveOn(store, draft.jobId, 'FINISHED', { result: RESULT });
    const released = await moveOn(store, draft.jobId, 'RELEASED');

    const job = await store.get(draft.jobId);
    expect(released).toEqual({ kind: 'moved', job });
    expect(job).toMatchObject({
      ...draft,
      state: 'RELEASED',
      fence,
      intent: next,
      result: RESULT,
      timeline: expect.any(Array),
    });
    const states: JobState[] = [
      'CREATED',
      'RESERVED',
      'DISPATCHED',
      'RETRYING',
      'RESERVED',
      'RUNNING',
      'FINISHED',
      'RELEASED',
    ];
    expect(job?.timeline.map((entry) => entry.state)).toEqual(states);
  });

  it('records a passed state before the reached one', async () => {
    const { store, now } = await start();
    const draft = draftJob(now());
    await store.admit(draft);
    await dispatch(store, draft.jobId, { nodeId: 'node-a', attempt: 1 });
    const passing = { state: 'RUNNING', at: now(), attempt: 1, nodeId: 'node-a' } as const;
    const moved = await moveOn(store, draft.jobId, 'FINISHED', { passing: [passing], result: RESULT });
    expect(moved).toMatchObject({ kind: 'moved', job: { state: 'FINISHED' } });
    const timeline = (await store.get(draft.jobId))?.timeline ?? [];
    expect(timeline.at(-2)).toEqual(passing);
    expect(timeline.at(-1)).toMatchObject({ state: 'FINISHED' });
  });

  it('writes DISPATCHED with its fence and the states after it in one move', async () => {
    const { store, now } = await start();
    const fence = { nodeId: 'node-a', attempt: 1 };
    const draft = draftJob(now(), { state: 'RESERVED', intent: fence });
    await store.admit(draft);
    const passing = (['DISPATCHED', 'RUNNING', 'FINISHED'] as const).map((state) => ({
      state,
      at: now(),
      ...fence,
    }));
    const change = changeTo('RELEASED', { fence, intent: null, passing, result: RESULT });
    const moved = await store.move(draft.jobId, expectedOf(draft), change);
    expect(moved).toMatchObject({
      kind: 'moved',
      job: { state: 'RELEASED', fence, intent: undefined, result: RESULT },
    });
    const stored = await store.get(draft.jobId);
    expect(stored).toEqual('job' in moved && moved.job);
    expect(stored?.timeline.slice(-4, -1)).toEqual(passing);
    expect(await store.move(draft.jobId, expectedOf(draft), change)).toMatchObject({ kind: 'stale' });
  });

  it('keeps the reason of a failure through the release', async () => {
    const { store, now } = await start();
    const draft = draftJob(now());
    const failure = { code: 'JOB_TIMEOUT', message: 'no answer' };
    await store.admit(draft);
    const entry = { state: 'FAILED', at: now(), attempt: 0, reason: 'JOB_TIMEOUT' } as const;
    await store.move(draft.jobId, expectedOf(draft), changeTo('FAILED', { failure, entry }));
    await moveOn(store, draft.jobId, 'RELEASED');
    const job = await store.get(draft.jobId);
    expect(job).toMatchObject({ state: 'RELEASED', failure });
    expect(job?.timeline[1]).toEqual(entry);
  });

  it('I4 fencing: a move from another state returns stale and the record', async () => {
    const { store, now } = await start();
    const draft = draftJob(now());
    await store.admit(draft);
    await run(store, draft.jobId);
    const job = await store.get(draft.jobId);
    for (const state of ['CREATED', 'RESERVED', 'DISPATCHED', 'RETRYING', 'FINISHED', 'FAILED'] as const) {
      const late = await store.move(
        draft.jobId,
        { state, fenceAttempt: 1 },
        changeTo('FINISHED', { result: RESULT, fence: { nodeId: 'node-z', attempt: 9 } }),
      );
      expect(late).toEqual({ kind: 'stale', job });
    }
    expect(await store.get(draft.jobId)).toEqual(job);
  });

  it('I4 fencing: a move of another attempt changes nothing', async () => {
    const { store, now } = await start();
    const draft = draftJob(now());
    await store.admit(draft);
    await dispatch(store, draft.jobId, { nodeId: 'node-a', attempt: 1 });
    await moveOn(store, draft.jobId, 'RETRYING');
    await dispatch(store, draft.jobId, { nodeId: 'node-b', attempt: 2 });
    const job = await store.get(draft.jobId);
    for (const fenceAttempt of [0, 1, 3]) {
      const late = await store.move(
        draft.jobId,
        { state: 'DISPATCHED', fenceAttempt },
        changeTo('RUNNING', {
          failure: { code: 'JOB_TIMEOUT', message: 'late' },
          passing: [{ state: 'RUNNING', at: now(), attempt: 1 }],
          intent: null,
        }),
      );
      expect(late).toEqual({ kind: 'stale', job });
    }
    expect(await store.get(draft.jobId)).toEqual(job);
    const current = { state: 'DISPATCHED', fenceAttempt: 2 } as const;
    expect(await store.move(draft.jobId, current, changeTo('RUNNING'))).toMatchObject({ kind: 'moved' });
  });

  it('I4 fencing: before the first dispatch only attempt 0 moves the job', async () => {
    const { store, now } = await start();
    const draft = draftJob(now());
    await store.admit(draft);
    await moveOn(store, draft.jobId, 'RESERVED', { intent: { nodeId: 'node-a', attempt: 1 } });
    const early = { state: 'RESERVED', fenceAttempt: 1 } as const;
    expect(await store.move(draft.jobId, early, changeTo('RUNNING'))).toMatchObject({ kind: 'stale' });
    const right = { state: 'RESERVED', fenceAttempt: 0 } as const;
    expect(await store.move(draft.jobId, right, changeTo('CREATED'))).toMatchObject({ kind: 'moved' });
  });

  it('I3 one outcome: one of many concurrent ends is accepted', async () => {
    const { store, now } = await start();
    const draft = draftJob(now());
    await store.admit(draft);
    await run(store, draft.jobId);
    const expected = { state: 'RUNNING', fenceAttempt: 1 } as const;
    const results = await Promise.all(
      times(60, (index) =>
        store.move(
          draft.jobId,
          expected,
          index % 2 === 0
            ? changeTo('FINISHED', { result: { ...RESULT, textTranslated: `result ${index}` } })
            : changeTo('FAILED', { failure: { code: 'PROCESSING_ERROR', message: `failure ${index}` } }),
        ),
      ),
    );
    const moved = results.filter((result) => result.kind === 'moved');
    expect(moved).toHaveLength(1);
    expect(results.filter((result) => result.kind === 'stale')).toHaveLength(59);
    const job = await store.get(draft.jobId);
    expect(moved[0]).toEqual({ kind: 'moved', job });
    expect(job?.timeline).toHaveLength(5);
    expect([job?.result, job?.failure].filter((outcome) => outcome !== undefined)).toHaveLength(1);
  });

  it('a later move does not change a returned record', async () => {
    const { raw, now } = await start();
    const draft = draftJob(now());
    const admitted = await raw.admit(draft);
    const seen = await raw.get(draft.jobId);
    await run(raw, draft.jobId);
    expect(seen).toMatchObject({ state: 'CREATED' });
    expect(seen?.timeline).toHaveLength(1);
    expect(admitted).toMatchObject({ job: { state: 'CREATED' } });
    expect(draft.timeline).toHaveLength(1);
  });

  it('returns every field unchanged: empty lists, large numbers, any text', async () => {
    const { store, now } = await start();
    const requestId = `${fresh('request')}:.-_`;
    const base = draftRequest(now(), { requestId });
    const draft = {
      ...base,
      spec: {
        ...base.spec,
        utteranceIndex: Number.MAX_SAFE_INTEGER,
        features: {},
        autoLanguages: [],
        contextText: 'quote " backslash \\ newline \n nul \u0000 emoji 🗣️ 中文',
        audio: { kind: 'held', bytes: 0 } as const,
      },
    };
    const result = {
      ...RESULT,
      textAsr: '',
      processingTimeMs: 0.1 + 0.2,
      extra: { list: [], map: {}, nothing: null, no: false, big: 2 ** 53 - 1, deep: [[{ a: [] }]] },
      details: { asr_quality_level: 'good', 'a.b': 1e-7 },
    };
    await store.admit(draft);
    await run(store, draft.jobId);
    await moveOn(store, draft.jobId, 'FINISHED', { result });
    await moveOn(store, draft.jobId, 'RELEASED');
    const job = await store.get(draft.jobId);
    expect(job?.spec).toEqual(draft.spec);
    expect(job?.result).toEqual(result);
    expect(await store.bound(draft.tenantId, requestId)).toEqual(job);
  });

  it('I11 bounded: a timeline keeps its first and newest entries, in order', async () => {
    const { store, now } = await start();
    const draft = draftJob(now());
    await store.admit(draft);
    const lengths: number[] = [];
    for (let attempt = 1; attempt <= 300; attempt += 1) {
      const entry = { state: 'RESERVED', at: draft.createdAt + attempt, attempt } as const;
      const passing = { ...entry, state: 'RETRYING' } as const;
      await moveOn(
        store,
        draft.jobId,
        'RESERVED',
        attempt % 2 === 0 ? { entry } : { entry, passing: [passing] },
      );
      if (attempt >= 200) lengths.push((await store.get(draft.jobId))?.timeline.length ?? 0);
    }
    expect(Math.max(...lengths)).toBeLessThanOrEqual((lengths[0] ?? 0) + 1);
    const timeline = (await store.get(draft.jobId))?.timeline ?? [];
    expect(timeline[0]).toEqual(draft.timeline[0]);
    expect(timeline.at(-1)).toMatchObject({ attempt: 300 });
    const instants = timeline.map((entry) => entry.at);
    expect(instants).toEqual([...instants].sort((a, b) => a - b));
  });
}
