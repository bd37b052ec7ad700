/** Contract of JobStore: retention, and the behaviour at each limit (I11). */
import { expect, it } from 'vitest';
import type { JobRecord } from '../../src/domain/job.ts';
import type { JobStore } from '../../src/ports/job-store.ts';
import { edgeOf, eventually, fresh, holdsBefore, times } from './harness.ts';
import { draftJob, draftRequest, fail, finish, moveOn, RESULT, repeatOf, run } from './job-draft.ts';
import type { StartJobStore } from './job-store.ts';

const KEEP_MS = 300;

const keptOf = async (store: JobStore, drafts: readonly JobRecord[]): Promise<boolean[]> =>
  Promise.all(drafts.map(async ({ jobId }) => (await store.get(jobId)) !== undefined));

export function jobStoreLimits(start: StartJobStore): void {
  it('I11 bounded: refuses jobs at the inflight limit and binds nothing', async () => {
    const { store, now } = await start({ maxInflight: 2 });
    const tenantId = fresh('tenant');
    const [a, b, c, d] = times(4, () => draftRequest(now(), { tenantId })) as [
      JobRecord,
      JobRecord,
      JobRecord,
      JobRecord,
    ];
    await store.admit(a);
    await store.admit(b);
    expect(await store.admit(c)).toEqual({ kind: 'full' });
    expect(await store.get(c.jobId)).toBeUndefined();
    expect(await store.bound(tenantId, c.requestId as string)).toBeUndefined();
    expect((await store.list({ tenantId, limit: 10 })).jobs).toHaveLength(2);

    expect(await store.admit(repeatOf(a))).toMatchObject({ kind: 'existing' });
    await fail(store, a.jobId);
    expect(await store.admit(c)).toMatchObject({ kind: 'admitted' });
    await store.discard(c.jobId);
    expect(await store.admit(d)).toMatchObject({ kind: 'admitted' });
    expect(await store.admit(c)).toEqual({ kind: 'full' });
  });

  it('I11 bounded: concurrent admits do not exceed the limit', async () => {
    const { store, now } = await start({ maxInflight: 5 });
    const results = await Promise.all(
      times(60, (index) => store.admit(index % 2 === 0 ? draftJob(now()) : draftRequest(now()))),
    );
    expect(results.filter((result) => result.kind === 'admitted')).toHaveLength(5);
    expect(results.filter((result) => result.kind === 'full')).toHaveLength(55);
  });

  it('an erased job contains nothing that was said, and stays bound to its request', async () => {
    const { store, now } = await start({ bindingLeaseMs: 60_000 });
    const base = draftRequest(now());
    const draft = {
      ...base,
      spec: { ...base.spec, inputText: 'typed', sourceText: 'spoken', contextText: 'said before' },
    };
    await store.admit(draft);
    expect(await store.erase(draft.jobId)).toBe('not_settled');
    await finish(store, draft.jobId);
    expect(JSON.stringify(await store.get(draft.jobId))).toContain(RESULT.textAsr);
    expect(await store.erase(draft.jobId)).toBe('erased');
    expect(await store.erase(draft.jobId)).toBe('erased');
    const repeated = await store.admit(repeatOf(draft));
    expect(repeated).toMatchObject({
      kind: 'existing',
      job: { jobId: draft.jobId, result: { textAsr: '', textTranslated: '', extra: { erased: true } } },
    });
    for (const said of ['said before', 'typed', 'spoken', RESULT.textAsr, RESULT.textTranslated])
      expect(JSON.stringify([repeated, await store.get(draft.jobId)])).not.toContain(said);
  });

  it('an erased job ends with its binding, and one without a binding at once', async () => {
    const { store, now, advance } = await start({ bindingLeaseMs: KEEP_MS });
    const [finished, failed] = [draftRequest(now()), draftRequest(now())];
    await store.admit(finished);
    await store.admit(failed);
    await finish(store, finished.jobId);
    await fail(store, failed.jobId);
    for (const { jobId } of [finished, failed]) expect(await store.erase(jobId)).toBe('erased');
    expect(await keptOf(store, [failed])).toEqual([false]);
    await advance(KEEP_MS);
    expect(await keptOf(store, [finished])).toEqual([false]);
    expect(await store.erase(finished.jobId)).toBe('unknown_job');
    expect(await store.admit(repeatOf(finished))).toMatchObject({ kind: 'admitted' });
  });

  it('the end of a job makes room once, however often it is repeated', async () => {
    const { store, now } = await start({ maxInflight: 2 });
    const [a, b] = [draftJob(now()), draftJob(now())];
    await store.admit(a);
    await store.admit(b);
    await finish(store, a.jobId);
    await fail(store, fresh('job'));
    await moveOn(store, a.jobId, 'RELEASED');
    await store.move(a.jobId, { state: 'FINISHED', fenceAttempt: 1 }, { ...RELEASED, state: 'RELEASED' });
    expect(await store.admit(draftJob(now()))).toMatchObject({ kind: 'admitted' });
    expect(await store.admit(draftJob(now()))).toEqual({ kind: 'full' });
  });

  it('I11 bounded: refuses bound jobs at the binding limit, admits unbound ones', async () => {
    const { store, now } = await start({ maxBindings: 2 });
    const drafts = times(3, () => draftRequest(now()));
    const [a, b, c] = drafts as [JobRecord, JobRecord, JobRecord];
    await store.admit(a);
    await store.admit(b);
    expect(await store.admit(c)).toEqual({ kind: 'full' });
    expect(await keptOf(store, drafts)).toEqual([true, true, false]);
    expect(await store.admit(draftJob(now()))).toMatchObject({ kind: 'admitted' });
    await fail(store, b.jobId);
    expect(await store.admit(c)).toMatchObject({ kind: 'admitted' });
    expect(await store.bound(a.tenantId, a.requestId as string)).toMatchObject({ jobId: a.jobId });
  });

  it('a new binding replaces the oldest finished one, never a live one', async () => {
    const { store, now } = await start({ maxBindings: 3 });
    const [live, older, newer, next] = times(4, () => draftRequest(now())) as [
      JobRecord,
      JobRecord,
      JobRecord,
      JobRecord,
    ];
    for (const draft of [live, older, newer]) await store.admit(draft);
    await finish(store, older.jobId);
    await finish(store, newer.jobId);
    expect(await store.admit(next)).toMatchObject({ kind: 'admitted' });
    const bound = await Promise.all(
      [live, older, newer, next].map((draft) => store.bound(draft.tenantId, draft.requestId as string)),
    );
    expect(bound.map((job) => job?.jobId)).toEqual([live.jobId, undefined, newer.jobId, next.jobId]);
  });

  it('keeps settled records for their retention, and live ones always', async () => {
    const harness = await start({ retentionMs: KEEP_MS, bindingLeaseMs: 50 });
    const { store, now, advance } = harness;
    const drafts = times(3, () => draftRequest(now()));
    const [, finished, failed] = drafts as [JobRecord, JobRecord, JobRecord];
    for (const draft of drafts) await store.admit(draft);
    await advance(KEEP_MS + 10);
    const begunAt = performance.now();
    await finish(store, finished.jobId);
    await moveOn(store, finished.jobId, 'RELEASED');
    await fail(store, failed.jobId);
    await advance(KEEP_MS - edgeOf(harness));
    await holdsBefore(harness, begunAt, KEEP_MS, async () =>
      expect(await keptOf(store, drafts)).toEqual([true, true, true]),
    );
    await advance(edgeOf(harness));
    await eventually(harness, async () => expect(await keptOf(store, drafts)).toEqual([true, false, false]));
  });

  it('lists no settled record after its retention', async () => {
    const harness = await start({ retentionMs: 100, bindingLeaseMs: 50 });
    const { store, now, advance } = harness;
    const tenantId = fresh('tenant');
    const [live, over] = times(2, () => draftRequest(now(), { tenantId })) as [JobRecord, JobRecord];
    await store.admit(live);
    await store.admit(over);
    await finish(store, over.jobId);
    await advance(100);
    await eventually(harness, async () => {
      const { jobs } = await store.list({ tenantId, limit: 10 });
      expect(jobs.map((job) => job.jobId)).toEqual([live.jobId]);
    });
  });

  it('I3 one live job: dropping the record of a FAILED job leaves its successor bound', async () => {
    const { store, now, advance } = await start({ retentionMs: 100, maxRetained: 1 });
    const drafts = times(2, () => draftRequest(now()));
    const repeats = drafts.map((draft) => repeatOf(draft));
    for (const draft of drafts) {
      await store.admit(draft);
      await fail(store, draft.jobId);
    }
    for (const repeat of repeats) await store.admit(repeat);
    // One record exceeds the count; the other expires, which these calls notice.
    await advance(110);
    expect(await keptOf(store, drafts)).toEqual([false, false]);
    for (const repeat of repeats) {
      const bound = await store.bound(repeat.tenantId, repeat.requestId as string);
      expect(bound?.jobId).toBe(repeat.jobId);
      expect(await store.admit(repeatOf(repeat))).toMatchObject({ kind: 'existing' });
    }
  });

  it('drops the oldest settled records beyond the count, never a live one', async () => {
    const harness = await start({ maxRetained: 3 });
    const { store, now } = harness;
    const tenantId = fresh('tenant');
    const drafts = times(9, () => draftJob(now(), { tenantId }));
    for (const draft of drafts) await store.admit(draft);
    // The first and the fourth stay live; one of the others fails, so that both kinds of end are counted.
    for (const [index, draft] of drafts.entries()) {
      if (index === 0 || index === 3) continue;
      await (index === 6 ? fail(store, draft.jobId) : finish(store, draft.jobId));
    }
    const kept = [true, false, false, true, false, false, true, true, true];
    await eventually(harness, async () => {
      expect(await keptOf(store, drafts)).toEqual(kept);
      const listed = (await store.list({ tenantId, limit: 50 })).jobs.map((job) => job.jobId);
      const expected = drafts.filter((_, index) => kept[index]).map((draft) => draft.jobId);
      expect(listed.sort()).toEqual(expected.sort());
    });
  });

  const blob = 'A'.repeat(10_000);
  const heavy: Record<string, Parameters<typeof moveOn>[3]> = {
    'a result': { result: { ...RESULT, ttsAudio: blob } },
    'what a node added to its result': { result: { ...RESULT, extra: { a: [blob] } } },
    'the details of a result': { result: { ...RESULT, details: { blob } } },
    'the message of a failure': { failure: { code: 'PROCESSING_ERROR', message: blob } },
  };
  it.each(Object.keys(heavy))('drops the oldest settled records beyond the bytes of %s', async (where) => {
    const harness = await start({ maxRetainedBytes: 50_000 });
    const { store, now } = harness;
    const drafts = times(12, () => draftJob(now()));
    for (const draft of drafts) await store.admit(draft);
    const settled = drafts.slice(1);
    for (const draft of settled) {
      await run(store, draft.jobId);
      await moveOn(store, draft.jobId, heavy[where]?.result ? 'FINISHED' : 'FAILED', heavy[where]);
    }
    await eventually(harness, async () => {
      const kept = await keptOf(store, settled);
      const count = kept.filter(Boolean).length;
      expect(count).toBeGreaterThanOrEqual(1);
      expect(count).toBeLessThanOrEqual(4);
      expect(kept).toEqual(settled.map((_, index) => index >= settled.length - count));
    });
    expect(await keptOf(store, drafts.slice(0, 1))).toEqual([true]);
  });

  it('keeps the record of a job that was unbound for a new one', async () => {
    const { store, now } = await start({ maxBindings: 1 });
    const [older, next] = [draftRequest(now()), draftRequest(now())];
    await store.admit(older);
    await finish(store, older.jobId);
    expect(await store.admit(next)).toMatchObject({ kind: 'admitted' });
    expect(await store.get(older.jobId)).toMatchObject({ state: 'FINISHED' });
  });

  it('a binding ends with its record if the retention is shorter', async () => {
    const { store, now, advance } = await start({ retentionMs: 100, bindingLeaseMs: 60_000 });
    const draft = draftRequest(now());
    await store.admit(draft);
    await finish(store, draft.jobId);
    await advance(110);
    const bound = await store.bound(draft.tenantId, draft.requestId as string);
    expect((await store.get(draft.jobId))?.jobId).toBe(bound?.jobId);
  });

  it('binds no request to a dropped record', async () => {
    const harness = await start({ maxRetained: 2 });
    const { store, now } = harness;
    const drafts = times(5, () => draftRequest(now()));
    for (const draft of drafts) {
      await store.admit(draft);
      await finish(store, draft.jobId);
    }
    await eventually(harness, async () => {
      expect((await keptOf(store, drafts)).filter(Boolean).length).toBe(2);
    });
    for (const draft of drafts) {
      const bound = await store.bound(draft.tenantId, draft.requestId as string);
      const repeat = repeatOf(draft);
      const answer = await store.admit(repeat);
      if (bound === undefined)
        expect(answer).toMatchObject({ kind: 'admitted', job: { jobId: repeat.jobId } });
      else {
        expect(await store.get(draft.jobId)).toEqual(bound);
        expect(answer).toEqual({ kind: 'existing', job: bound });
      }
    }
  });
}

const RELEASED = { entry: { state: 'RELEASED', at: 0, attempt: 1 } } as const;
