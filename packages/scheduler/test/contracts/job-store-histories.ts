/** Contract of JobStore: random histories of admits and ends, compared with the bindings that the law requires. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { JobRecord } from '../../src/domain/job.ts';
import { fresh, times } from './harness.ts';
import { draftRequest, fail, finish, moveOn, repeatOf } from './job-draft.ts';
import type { StartJobStore } from './job-store.ts';

export function jobStoreHistories(start: StartJobStore): void {
  it('I3 one live job per request through random histories of admits and ends', async () => {
    const { store, now } = await start();
    const act = fc.constantFrom('admit', 'other body', 'fail', 'finish', 'discard', 'release');
    const history = fc.array(fc.record({ act, request: fc.nat(2) }), { minLength: 1, maxLength: 25 });
    await fc.assert(
      fc.asyncProperty(history, async (steps) => {
        const drafts = times(3, () => draftRequest(now()));
        // The job to which the law binds each request, and its last job.
        const bindings = new Map<number, string>();
        const last = new Map<number, string>();
        for (const { act, request } of steps) {
          const draft = repeatOf(drafts[request] as JobRecord, {
            fingerprint: act === 'other body' ? 'body-2' : 'body-1',
          });
          const before = bindings.get(request);
          const jobId = last.get(request) ?? fresh('job');
          const state = (await store.get(jobId))?.state;
          const isLive = before === jobId && state === 'CREATED';
          if (act === 'admit' || act === 'other body') {
            const result = await store.admit(draft);
            const bound = before === undefined ? undefined : await store.get(before);
            const isSame = bound?.fingerprint === draft.fingerprint;
            if (before === undefined) {
              expect(result.kind).toBe('admitted');
              bindings.set(request, draft.jobId);
              last.set(request, draft.jobId);
            } else expect(result).toEqual({ kind: isSame ? 'existing' : 'conflict', job: bound });
          } else if (act === 'fail' && isLive) {
            await fail(store, jobId);
            bindings.delete(request);
          } else if (act === 'finish' && isLive) await finish(store, jobId);
          else if (act === 'discard' && isLive) {
            await store.discard(jobId);
            bindings.delete(request);
          } else if (act === 'release' && (state === 'FAILED' || state === 'FINISHED'))
            await moveOn(store, jobId, 'RELEASED');
          for (const [index, each] of drafts.entries())
            expect((await store.bound(each.tenantId, each.requestId as string))?.jobId).toBe(
              bindings.get(index),
            );
        }
      }),
      { numRuns: 40 },
    );
  });
}
