/** After a failover lost the record of a request, a repeat waits until its driver has told the store of it, and finds the one job there is. */
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
  // Of what many share only admitting matters here.
  const jobs = createJobStore({ clock: createManualClock(), ...LIMITS }) as unknown as SharedJobStore;
  let tell: () => void = () => {};
  const told = new Promise<void>((resolve) => {
    tell = resolve;
  });
  const store = guardJobStore({ jobs, othersTold: () => told });
  return { jobs, store, tell };
}

describe('a store that may have lost records', () => {
  it('is asked about a named request only when everybody has told it what is lost', async () => {
    const { jobs, store, tell } = start();
    const first = draftRequest(1);
    const admitting = Promise.resolve(store.admit(repeatOf(first)));
    expect(await isPending(admitting)).toBe(true);
    await jobs.admit(first);
    tell();
    expect(await admitting).toMatchObject({ kind: 'existing', job: { jobId: first.jobId } });
  });

  it('is asked at once about a job whose request nobody can repeat', async () => {
    const { store } = start();
    expect(await store.admit(draftJob(1))).toMatchObject({ kind: 'admitted' });
  });
});
