/** Contract of JobStore: lists are newest first, in pages, without repeats or gaps. */
import { expect, it } from 'vitest';
import type { JobRecord } from '../../src/domain/job.ts';
import type { JobQuery, JobStore } from '../../src/ports/job-store.ts';
import { fresh, times } from './harness.ts';
import { dispatch, draftJob, fail, finish, moveOn } from './job-draft.ts';
import type { StartJobStore } from './job-store.ts';

const ids = (jobs: readonly JobRecord[]): string[] => jobs.map((job) => job.jobId);

/** All pages; `between` runs after the first of them. */
async function collect(
  store: JobStore,
  query: JobQuery,
  between?: (first: readonly JobRecord[]) => Promise<void>,
): Promise<string[]> {
  const found: string[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < 200; page += 1) {
    const answer = await store.list({ ...query, ...(cursor !== undefined && { cursor }) });
    expect(answer.jobs.length).toBeLessThanOrEqual(query.limit);
    found.push(...ids(answer.jobs));
    if (page === 0) await between?.(answer.jobs);
    cursor = answer.cursor;
    if (cursor === undefined) return found;
  }
  throw new Error('the pages never end');
}

export function jobStoreLists(start: StartJobStore): void {
  async function startWith(count: number, createdAt: (now: number, index: number) => number) {
    const harness = await start();
    const tenantId = fresh('tenant');
    const base = harness.now();
    const drafts = times(count, (index) => draftJob(createdAt(base, index), { tenantId }));
    for (const draft of drafts) await harness.store.admit(draft);
    return { ...harness, tenantId, drafts, newestFirst: ids(drafts).reverse() };
  }

  it('lists newest first, in pages of any size', async () => {
    const { store, tenantId, newestFirst } = await startWith(11, (now, index) => now - 1000 + index);
    for (const limit of [1, 4, 11, 50])
      expect(await collect(store, { tenantId, limit })).toEqual(newestFirst);
  });

  it('lists each job of the same millisecond once', async () => {
    const { store, tenantId, drafts } = await startWith(12, (now) => now);
    for (const limit of [1, 5]) {
      const found = await collect(store, { tenantId, limit });
      expect(found.toSorted()).toEqual(ids(drafts).toSorted());
    }
  });

  it('lists nothing for a tenant without jobs', async () => {
    const { store } = await startWith(2, (now, index) => now + index);
    expect(await collect(store, { tenantId: fresh('tenant'), limit: 5 })).toEqual([]);
  });

  it('I10: shows a tenant only its own jobs', async () => {
    const { store, now } = await start();
    const tenants = [fresh('tenant'), fresh('tenant')];
    const drafts = times(20, (index) => draftJob(now() + index, { tenantId: tenants[index % 2] as string }));
    for (const draft of drafts) await store.admit(draft);
    for (const tenantId of tenants) {
      const own = drafts.filter((draft) => draft.tenantId === tenantId);
      expect(await collect(store, { tenantId, limit: 3 })).toEqual(ids(own).reverse());
    }
    const all = await collect(store, { limit: 7 });
    expect(all.filter((id) => ids(drafts).includes(id))).toEqual(ids(drafts).reverse());
  });

  it('filters by the current state, also within a tenant', async () => {
    const { store, tenantId, drafts } = await startWith(15, (now, index) => now + index);
    const failing = drafts.filter((_, index) => index % 3 === 0);
    for (const draft of failing) await fail(store, draft.jobId);
    const rest = drafts.filter((draft) => !failing.includes(draft));
    expect(await collect(store, { tenantId, state: 'FAILED', limit: 2 })).toEqual(ids(failing).reverse());
    expect(await collect(store, { tenantId, state: 'CREATED', limit: 2 })).toEqual(ids(rest).reverse());
    expect(await collect(store, { tenantId, state: 'RUNNING', limit: 2 })).toEqual([]);
    const anywhere = await collect(store, { state: 'FAILED', limit: 4 });
    expect(anywhere.filter((id) => ids(drafts).includes(id))).toEqual(ids(failing).reverse());
  });

  it('filters waiting jobs by the reason of their last step', async () => {
    const { store, tenantId, drafts, now } = await startWith(2, (at, index) => at + index);
    const [{ jobId }] = drafts as [JobRecord];
    await dispatch(store, jobId, { nodeId: 'node-a', attempt: 1 });
    const entry = { state: 'RETRYING', at: now(), attempt: 1, reason: 'ACK_TIMEOUT' } as const;
    await moveOn(store, jobId, 'RETRYING', { entry });
    const listed = (query: Partial<JobQuery>) => collect(store, { tenantId, limit: 2, ...query });
    expect(await listed({ outcome: 'waiting', reason: 'ACK_TIMEOUT' })).toEqual([jobId]);
    expect(await listed({ outcome: 'waiting', reason: 'NO_SLOT' })).toEqual([]);
  });

  it('filters by outcome, reason, node and session', async () => {
    const { store, tenantId, drafts } = await startWith(6, (now, index) => now + index);
    const [waiting, reserved, finished, failed, cancelled, closed] = drafts as [
      JobRecord,
      JobRecord,
      JobRecord,
      JobRecord,
      JobRecord,
      JobRecord,
    ];
    await moveOn(store, reserved.jobId, 'RESERVED', { intent: { nodeId: 'node-b', attempt: 1 } });
    await finish(store, finished.jobId);
    await moveOn(store, finished.jobId, 'RELEASED');
    await fail(store, failed.jobId);
    await moveOn(store, failed.jobId, 'RELEASED');
    for (const [job, code] of [
      [cancelled, 'JOB_CANCELLED'],
      [closed, 'SESSION_CLOSED'],
    ] as const)
      await moveOn(store, job.jobId, 'FAILED', { failure: { code, message: '' } });
    const listed = (query: Partial<JobQuery>) => collect(store, { tenantId, limit: 2, ...query });
    expect(await listed({ outcome: 'waiting' })).toEqual([waiting.jobId]);
    expect(await listed({ outcome: 'running' })).toEqual([reserved.jobId]);
    expect(await listed({ outcome: 'finished' })).toEqual([finished.jobId]);
    expect(await listed({ outcome: 'failed' })).toEqual([failed.jobId]);
    expect(await listed({ outcome: 'cancelled' })).toEqual([closed.jobId, cancelled.jobId]);
    expect(await listed({ reason: 'JOB_TIMEOUT' })).toEqual([failed.jobId]);
    expect(await listed({ outcome: 'failed', reason: 'JOB_CANCELLED' })).toEqual([]);
    expect(await listed({ nodeId: 'node-a' })).toEqual([finished.jobId]);
    expect(await listed({ nodeId: 'node-b' })).toEqual([reserved.jobId]);
    expect(await listed({ sessionId: closed.sessionId })).toEqual([closed.jobId]);
  });

  it('pages have no repeats or gaps when jobs are admitted in between', async () => {
    const { store, now, tenantId, newestFirst } = await startWith(9, (at, index) => at + index);
    const found = await collect(store, { tenantId, limit: 4 }, async () => {
      for (const index of times(5, (at) => at))
        await store.admit(draftJob(now() + 1000 + index, { tenantId }));
    });
    expect(found).toEqual(newestFirst);
  });

  it('pages have no repeats or gaps when listed jobs are dropped', async () => {
    const { store, tenantId, newestFirst } = await startWith(9, (now, index) => now + index);
    const found = await collect(store, { tenantId, limit: 4 }, async (first) => {
      for (const job of first) await store.discard(job.jobId);
    });
    expect(found).toEqual(newestFirst);
  });
}
