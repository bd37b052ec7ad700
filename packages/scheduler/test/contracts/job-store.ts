/** Contract of JobStore: admission and the binding of requests. The job-store-*.ts files have the other parts. */
import { describe, expect, it } from 'vitest';
import type { JobRecord } from '../../src/domain/job.ts';
import type { JobStore } from '../../src/ports/job-store.ts';
import { type Closable, edgeOf, fresh, holdsBefore, perTest, type Timed, times } from './harness.ts';
import { dispatch, draftJob, draftRequest, fail, finish, moveOn, plainly, repeatOf } from './job-draft.ts';
import { jobStoreHistories } from './job-store-histories.ts';
import { jobStoreLimits } from './job-store-limits.ts';
import { jobStoreLists } from './job-store-lists.ts';
import { jobStoreMoves } from './job-store-moves.ts';
import { jobStoreTenants } from './job-store-tenants.ts';

export interface JobStoreLimits {
  readonly bindingLeaseMs: number;
  readonly retentionMs: number;
  readonly maxRetained: number;
  readonly maxRetainedBytes: number;
  readonly maxInflight: number;
  readonly maxBindings: number;
  readonly tenantShare?: number;
}

export interface JobStoreHarness extends Timed, Closable {
  readonly store: JobStore;
  /** The store's own clock. */
  now(): number;
}

/** The limits apply to this harness only. */
export type OpenJobStore = (limits: JobStoreLimits) => Promise<JobStoreHarness>;
/** `store` copies every returned record; `raw` is the store itself. */
export type StartJobStore = (
  limits?: Partial<JobStoreLimits>,
) => Promise<JobStoreHarness & { readonly raw: JobStore }>;

const ROOMY: JobStoreLimits = {
  bindingLeaseMs: 60_000,
  retentionMs: 300_000,
  maxRetained: 10_000,
  maxRetainedBytes: 64_000_000,
  maxInflight: 10_000,
  maxBindings: 10_000,
};
const LEASE_MS = 300;

export function jobStoreContract(name: string, open: OpenJobStore): void {
  describe(`JobStore: ${name}`, () => {
    const startWith = perTest(open);
    const start: StartJobStore = async (limits = {}) => {
      const harness = await startWith({ ...ROOMY, ...limits });
      return { ...harness, store: plainly(harness.store), raw: harness.store };
    };

    describe('admission', () => {
      it('finds an admitted job by id and by request', async () => {
        const { store, now } = await start();
        const draft = draftRequest(now());
        expect(await store.admit(draft)).toEqual({ kind: 'admitted', job: draft });
        expect(await store.get(draft.jobId)).toEqual(draft);
        expect(await store.bound(draft.tenantId, draft.requestId as string)).toEqual(draft);
      });

      it('returns records without additional fields', async () => {
        const { raw, now } = await start();
        const drafts = times(3, () => draftRequest(now()));
        for (const draft of drafts) {
          expect(await raw.admit(draft)).toEqual({ kind: 'admitted', job: draft });
          expect(await raw.get(draft.jobId)).toEqual(draft);
        }
      });

      it('finds nothing for unknown ids and requests', async () => {
        const { store } = await start();
        expect(await store.get(fresh('job'))).toBeUndefined();
        expect(await store.bound(fresh('tenant'), fresh('request'))).toBeUndefined();
        expect(await store.discard(fresh('job'))).toBe('discarded');
      });

      it('I3 one live job per request under concurrent admits', async () => {
        const { store, now } = await start();
        const draft = draftRequest(now());
        const results = await Promise.all(times(100, () => store.admit(repeatOf(draft))));
        const admitted = results.filter((result) => result.kind === 'admitted');
        expect(admitted).toHaveLength(1);
        expect(results.filter((result) => result.kind === 'existing')).toHaveLength(99);
        const ids = new Set(results.map((result) => result.kind !== 'full' && result.job.jobId));
        expect(ids.size).toBe(1);
        const page = await store.list({ tenantId: draft.tenantId, limit: 100 });
        expect(page.jobs.map((job) => job.jobId)).toEqual([...ids]);
      });

      it('I3 one live job per request when the same draft is admitted again', async () => {
        const { store, now } = await start();
        const draft = draftRequest(now());
        await store.admit(draft);
        await dispatch(store, draft.jobId, { nodeId: 'node-a', attempt: 1 });
        const moved = await store.get(draft.jobId);
        expect(await store.admit(draft)).toEqual({ kind: 'existing', job: moved });
        expect(await store.get(draft.jobId)).toEqual(moved);
      });

      it('keeps a draft without a request once if it is admitted twice', async () => {
        const { store, now } = await start();
        const draft = draftJob(now());
        await store.admit(draft);
        await store.admit(draft);
        expect((await store.list({ tenantId: draft.tenantId, limit: 10 })).jobs).toEqual([draft]);
      });

      it('binds nothing for jobs without a request', async () => {
        const { store, now } = await start();
        const tenantId = fresh('tenant');
        const results = await Promise.all(times(10, () => store.admit(draftJob(now(), { tenantId }))));
        expect(results.every((result) => result.kind === 'admitted')).toBe(true);
        expect((await store.list({ tenantId, limit: 50 })).jobs).toHaveLength(10);
      });

      it('separates equal request ids of two tenants', async () => {
        const { store, now } = await start();
        const mine = draftRequest(now());
        const theirs = repeatOf(mine, { tenantId: fresh('tenant'), fingerprint: 'body-2' });
        expect(await store.admit(mine)).toMatchObject({ kind: 'admitted' });
        expect(await store.admit(theirs)).toMatchObject({ kind: 'admitted' });
        await fail(store, mine.jobId);
        expect(await store.bound(mine.tenantId, mine.requestId as string)).toBeUndefined();
        expect(await store.bound(theirs.tenantId, theirs.requestId as string)).toEqual(theirs);
      });

      it('separates tenant and request pairs that are equal when joined', async () => {
        const { store, now } = await start();
        const root = fresh('t');
        const first = draftRequest(now(), { tenantId: `${root}:a`, requestId: 'b' });
        const second = draftRequest(now(), { tenantId: root, requestId: 'a:b' });
        expect(await store.admit(first)).toMatchObject({ kind: 'admitted' });
        expect(await store.admit(second)).toMatchObject({ kind: 'admitted' });
        expect(await store.bound(`${root}:a`, 'b')).toEqual(first);
        expect(await store.bound(root, 'a:b')).toEqual(second);
      });

      it('returns conflict for another fingerprint and writes nothing', async () => {
        const { store, now } = await start();
        const draft = draftRequest(now());
        const other = repeatOf(draft, { fingerprint: 'body-2' });
        await store.admit(draft);
        expect(await store.admit(other)).toEqual({ kind: 'conflict', job: draft });
        expect(await store.get(other.jobId)).toBeUndefined();
        expect(await store.bound(draft.tenantId, draft.requestId as string)).toEqual(draft);
      });
    });

    describe('binding', () => {
      const boundId = async (store: JobStore, draft: JobRecord) =>
        (await store.bound(draft.tenantId, draft.requestId as string))?.jobId;

      it('unbinds a FAILED job: a repeat is a new job', async () => {
        const { store, now } = await start();
        const draft = draftRequest(now());
        await store.admit(draft);
        await fail(store, draft.jobId);
        expect(await boundId(store, draft)).toBeUndefined();
        const repeat = repeatOf(draft, { fingerprint: 'body-2' });
        expect(await store.admit(repeat)).toMatchObject({ kind: 'admitted', job: { jobId: repeat.jobId } });
        expect(await store.get(draft.jobId)).toMatchObject({ state: 'FAILED' });
      });

      it('I3 one live job: late moves of a FAILED job keep its successor bound', async () => {
        const { store, now } = await start();
        const draft = draftRequest(now());
        await store.admit(draft);
        await fail(store, draft.jobId);
        const repeat = repeatOf(draft);
        await store.admit(repeat);
        await moveOn(store, draft.jobId, 'RELEASED');
        expect(await boundId(store, draft)).toBe(repeat.jobId);
        await store.discard(draft.jobId);
        expect(await boundId(store, draft)).toBe(repeat.jobId);
        expect(await store.admit(repeatOf(draft))).toMatchObject({
          kind: 'existing',
          job: { jobId: repeat.jobId },
        });
      });

      it('a repeat finds a FINISHED or released job like a live one', async () => {
        const { store, now } = await start();
        const draft = draftRequest(now());
        await store.admit(draft);
        await finish(store, draft.jobId);
        await moveOn(store, draft.jobId, 'RELEASED');
        const job = await store.get(draft.jobId);
        expect(await store.admit(repeatOf(draft))).toEqual({ kind: 'existing', job });
        const other = repeatOf(draft, { fingerprint: 'body-2' });
        expect(await store.admit(other)).toEqual({ kind: 'conflict', job });
      });

      it('keeps a FINISHED job bound exactly for the lease', async () => {
        const harness = await start({ bindingLeaseMs: LEASE_MS });
        const { store, now, advance } = harness;
        const draft = draftRequest(now());
        await store.admit(draft);
        const begunAt = performance.now();
        await finish(store, draft.jobId);
        await moveOn(store, draft.jobId, 'RELEASED');
        const kept = await store.get(draft.jobId);
        await advance(LEASE_MS - edgeOf(harness));
        await holdsBefore(harness, begunAt, LEASE_MS, async () =>
          expect(await boundId(store, draft)).toBe(draft.jobId),
        );
        await advance(edgeOf(harness));
        expect(await boundId(store, draft)).toBeUndefined();
        const repeat = repeatOf(draft);
        expect(await store.admit(repeat)).toMatchObject({ kind: 'admitted', job: { jobId: repeat.jobId } });
        expect(await store.get(draft.jobId)).toEqual(kept);
      });

      it('the binding lease begins when the job is FINISHED', async () => {
        const harness = await start({ bindingLeaseMs: LEASE_MS });
        const { store, now, advance } = harness;
        const draft = draftRequest(now());
        await store.admit(draft);
        await advance(LEASE_MS + 10);
        expect(await store.admit(repeatOf(draft))).toMatchObject({ kind: 'existing' });
        const begunAt = performance.now();
        await finish(store, draft.jobId);
        await advance(LEASE_MS - edgeOf(harness));
        await holdsBefore(harness, begunAt, LEASE_MS, async () =>
          expect(await boundId(store, draft)).toBe(draft.jobId),
        );
      });

      it('the end of an old lease does not unbind the next job', async () => {
        const { store, now, advance } = await start({ bindingLeaseMs: 100 });
        const draft = draftRequest(now());
        await store.admit(draft);
        await finish(store, draft.jobId);
        await advance(100);
        const repeat = repeatOf(draft);
        await store.admit(repeat);
        await moveOn(store, draft.jobId, 'RELEASED');
        await advance(110);
        expect(await boundId(store, draft)).toBe(repeat.jobId);
      });

      it('a discarded job is removed, and a repeat is admitted', async () => {
        const { store, now } = await start();
        const draft = draftRequest(now());
        await store.admit(draft);
        await moveOn(store, draft.jobId, 'RESERVED', { intent: { nodeId: 'node-a', attempt: 1 } });
        const answers = await Promise.all(times(3, () => store.discard(draft.jobId)));
        expect(answers).toEqual(['discarded', 'discarded', 'discarded']);
        expect(await store.get(draft.jobId)).toBeUndefined();
        expect(await boundId(store, draft)).toBeUndefined();
        expect((await store.list({ tenantId: draft.tenantId, limit: 10 })).jobs).toEqual([]);
        const repeat = repeatOf(draft);
        expect(await store.admit(repeat)).toMatchObject({ kind: 'admitted' });
        await store.discard(draft.jobId);
        expect(await boundId(store, draft)).toBe(repeat.jobId);
      });

      it('does not discard a failed job that was never dispatched', async () => {
        const { store, now } = await start();
        const draft = draftRequest(now());
        await store.admit(draft);
        await fail(store, draft.jobId);
        expect(await store.discard(draft.jobId)).toBe('kept');
        expect(await store.get(draft.jobId)).toMatchObject({ state: 'FAILED' });
      });

      it('does not discard a job that was dispatched', async () => {
        const { store, now } = await start();
        const draft = draftRequest(now());
        await store.admit(draft);
        await dispatch(store, draft.jobId, { nodeId: 'node-a', attempt: 1 });
        expect(await store.discard(draft.jobId)).toBe('kept');
        expect(await store.get(draft.jobId)).toMatchObject({ state: 'DISPATCHED' });
        expect(await boundId(store, draft)).toBe(draft.jobId);
      });
    });

    describe('histories', () => jobStoreHistories(start));
    describe('moves', () => jobStoreMoves(start));
    describe('limits', () => jobStoreLimits(start));
    describe('tenants', () => jobStoreTenants(start));
    describe('lists', () => jobStoreLists(start));
  });
}
