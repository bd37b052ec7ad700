/** A memory store that can lose its latest writes, like a Redis master that dies before its replica has them. */
import { createJobStore } from '../../../src/adapters/memory/job-store.ts';
import type { JobRecord } from '../../../src/domain/job.ts';
import type { Clock } from '../../../src/ports/clock.ts';
import type { Expected, JobChange, JobStore, MoveResult } from '../../../src/ports/job-store.ts';
import { isBehind } from '../../../src/runtime/attempts/record-move.ts';

type Write =
  | { readonly kind: 'admit'; readonly jobId: string; readonly job: JobRecord }
  | {
      readonly kind: 'move';
      readonly jobId: string;
      readonly expected: Expected;
      readonly change: JobChange;
    };

export interface LossyStore {
  readonly port: JobStore;
  /** Loses the latest writes. */
  lose(writes: number): void;
  empty(): void;
  restores(): number;
  /** From now on another instance drives every job. */
  takenOver(): void;
  /** From now on restored records are lost at once. */
  keepsNothing(): void;
}

export function createLossyStore(clock: Clock): LossyStore {
  const open = () =>
    createJobStore({
      clock,
      bindingLeaseMs: 90_000,
      retentionMs: 300_000,
      maxRetained: 10_000,
      maxRetainedBytes: 64_000_000,
      maxInflight: 10_000,
      maxBindings: 10_000,
    });
  let writes: Write[] = [];
  let store = open();
  let restores = 0;
  let isTakenOver = false;
  let keepsNothing = false;

  function rewrite(kept: readonly Write[]): void {
    writes = [...kept];
    store = open();
    for (const write of writes) {
      if (write.kind === 'admit') store.admit(write.job);
      else store.move(write.jobId, write.expected, write.change);
    }
  }

  const port: JobStore = {
    async admit(draft) {
      const admitted = await store.admit(draft);
      if (admitted.kind === 'admitted') writes.push({ kind: 'admit', jobId: draft.jobId, job: draft });
      return admitted;
    },
    async move(jobId, expected, change): Promise<MoveResult> {
      const isThere = (await store.get(jobId)) !== undefined;
      if (isTakenOver) return { kind: isThere ? 'driven_elsewhere' : 'unknown_job' };
      const moved = await store.move(jobId, expected, change);
      if (moved.kind === 'moved') writes.push({ kind: 'move', jobId, expected, change });
      return moved;
    },
    async restore(job) {
      restores += 1;
      if (isTakenOver) return 'driven_elsewhere';
      const stored = await store.get(job.jobId);
      if (stored !== undefined && !isBehind(stored, job)) return 'kept';
      rewrite(writes.filter(({ jobId }) => jobId !== job.jobId));
      store.admit(job);
      writes.push({ kind: 'admit', jobId: job.jobId, job });
      if (keepsNothing) rewrite([]);
      return 'restored';
    },
    erase: (jobId) => store.erase(jobId),
    async discard(jobId) {
      const discarded = await store.discard(jobId);
      if (discarded === 'discarded') writes = writes.filter((write) => write.jobId !== jobId);
      return discarded;
    },
    get: (jobId) => store.get(jobId),
    bound: (tenantId, requestId) => store.bound(tenantId, requestId),
    list: (query) => store.list(query),
  };

  return {
    port,
    lose: (count) => rewrite(writes.slice(0, Math.max(0, writes.length - count))),
    empty: () => rewrite([]),
    restores: () => restores,
    takenOver() {
      isTakenOver = true;
    },
    keepsNothing() {
      keepsNothing = true;
    },
  };
}
