/** After a failover lost a job record, a repeated request waits until the driver has written it again, and finds the existing job. */
import { describe, expect, it } from 'vitest';
import { createJobStore } from '../../../src/adapters/memory/job-store.ts';
import type { SharedJobStore } from '../../../src/app/shared-store.ts';
import { guardJobStore } from '../../../src/cluster/guards/job-store.ts';
import { isPending } from '../../contracts/harness.ts';
import { draftJob, draftRequest, repeatOf } from '../../contracts/job-draft.ts';
import { createManualClock } from '../../support/manual-clock.ts';

const LIMITS = {
  bindingLeaseMs: 90_000,
  retentionMs: 300_000,
  maxRetained: 10,
  maxRetainedBytes: 1_000_000,
  maxInflight: 10,
  maxBindings: 10,
};

function start() {
  // Only `admit` matters here.
  const jobs = createJobStore({ clock: createManualClock(), ...LIMITS }) as unknown as SharedJobStore;
  let replay: () => void = () => {};
  const replayed = new Promise<void>((resolve) => {
    replay = resolve;
  });
  const store = guardJobStore({ jobs, othersReplayed: () => replayed });
  return { jobs, store, replay };
}

describe('a job store that may have lost records', () => {
  it('admits a named request only after the other drivers replayed', async () => {
    const { jobs, store, replay } = start();
    const first = draftRequest(1);
    const admitting = Promise.resolve(store.admit(repeatOf(first)));
    expect(await isPending(admitting)).toBe(true);
    await jobs.admit(first);
    replay();
    expect(await admitting).toMatchObject({ kind: 'existing', job: { jobId: first.jobId } });
  });

  it('admits a job without a request id at once', async () => {
    const { store } = start();
    expect(await store.admit(draftJob(1))).toMatchObject({ kind: 'admitted' });
  });
});
