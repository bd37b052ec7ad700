/** Contract of JobStore: what one tenant may use of each limit, when several tenants share them (I10, I11). */
import { expect, it } from 'vitest';
import type { JobRecord } from '../../src/domain/job.ts';
import { eventually, fresh, times } from './harness.ts';
import { draftJob, draftRequest, finish, moveOn } from './job-draft.ts';
import type { StartJobStore } from './job-store.ts';

const AT_SHARE = { kind: 'full', limit: 'tenant' };

export function jobStoreTenants(start: StartJobStore): void {
  const tenants = () => ({ greedy: fresh('greedy'), modest: fresh('modest') });

  it('I10 isolation: one tenant has at most its part of the jobs in flight', async () => {
    const { store, now } = await start({ maxInflight: 5, tenantShare: 0.5 });
    const { greedy, modest } = tenants();
    const [first, ...others] = times(4, () => draftJob(now(), { tenantId: greedy })) as [
      JobRecord,
      JobRecord,
      JobRecord,
      JobRecord,
    ];
    expect(await store.admit(first)).toMatchObject({ kind: 'admitted' });
    expect(await store.admit(others[0])).toMatchObject({ kind: 'admitted' });
    expect(await store.admit(others[1])).toEqual(AT_SHARE);
    for (const draft of times(2, () => draftJob(now(), { tenantId: modest })))
      expect(await store.admit(draft)).toMatchObject({ kind: 'admitted' });
    await finish(store, first.jobId);
    expect(await store.admit(others[1])).toMatchObject({ kind: 'admitted' });
    await store.discard(others[1].jobId);
    expect(await store.admit(others[2])).toMatchObject({ kind: 'admitted' });
  });

  it('I10 isolation: one tenant drops its own bindings, not those of others', async () => {
    const harness = await start({ maxBindings: 4, tenantShare: 0.5 });
    const { store, now } = harness;
    const { greedy, modest } = tenants();
    const ended = async (tenantId: string): Promise<JobRecord> => {
      const draft = draftRequest(now(), { tenantId });
      expect(await store.admit(draft)).toMatchObject({ kind: 'admitted' });
      await finish(store, draft.jobId);
      return draft;
    };
    const isBound = async ({ tenantId, requestId }: JobRecord): Promise<boolean> =>
      (await store.bound(tenantId, requestId ?? '')) !== undefined;
    const kept = [await ended(modest), await ended(modest)];
    const greedyJobs: JobRecord[] = [];
    for (let count = 0; count < 5; count += 1) greedyJobs.push(await ended(greedy));
    expect(await Promise.all(kept.map(isBound))).toEqual([true, true]);
    await eventually(harness, async () => {
      expect(await Promise.all(greedyJobs.map(isBound))).toEqual([false, false, false, true, true]);
    });
  });

  it('I10 isolation: one tenant at its part of live bindings is refused', async () => {
    const { store, now } = await start({ maxBindings: 4, tenantShare: 0.5 });
    const { greedy, modest } = tenants();
    const admit = (tenantId: string) => store.admit(draftRequest(now(), { tenantId }));
    await admit(greedy);
    await admit(greedy);
    expect(await admit(greedy)).toEqual(AT_SHARE);
    expect(await admit(modest)).toMatchObject({ kind: 'admitted' });
    expect(await admit(modest)).toMatchObject({ kind: 'admitted' });
  });

  it('I10 isolation: one tenant drops its own finished jobs, not those of others', async () => {
    const harness = await start({ maxRetained: 4, tenantShare: 0.5 });
    const { store, now } = harness;
    const { greedy, modest } = tenants();
    const ended = async (tenantId: string): Promise<JobRecord> => {
      const draft = draftJob(now(), { tenantId });
      await store.admit(draft);
      await finish(store, draft.jobId);
      await moveOn(store, draft.jobId, 'RELEASED');
      return draft;
    };
    const isKept = async ({ jobId }: JobRecord): Promise<boolean> => (await store.get(jobId)) !== undefined;
    const kept = [await ended(modest), await ended(modest)];
    const greedyJobs: JobRecord[] = [];
    for (let count = 0; count < 5; count += 1) greedyJobs.push(await ended(greedy));
    await eventually(harness, async () => {
      expect(await Promise.all(greedyJobs.map(isKept))).toEqual([false, false, false, true, true]);
    });
    expect(await Promise.all(kept.map(isKept))).toEqual([true, true]);
  });
}
