/** A simulated store with two processes on it, for tests of faults. The tests decide how much time passes. */

import type { SharedJobStore, SharedStore } from '../../../scheduler/dist/app/shared-store.js';
import type { JobRecord, JobState } from '../../../scheduler/dist/domain/job.js';
import type { JobChange } from '../../../scheduler/dist/domain/job-change.js';
import { createMachine, type Machine } from '../../../scheduler/dist/plan/kernel/machine.js';
import { seededChance } from '../../../scheduler/dist/plan/kernel/seeded-chance.js';
import { createVirtualTime } from '../../../scheduler/dist/plan/kernel/virtual-time.js';
import { changeTo, draftJob, expectedOf } from '../../../scheduler/test/contracts/job-draft.ts';
import { createSimulatedStore } from '../../src/store/simulated-store.ts';
import type { StoreSettings } from '../../src/store/store-settings.ts';

export const TIMEOUT_MS = 800;

const SETTINGS: StoreSettings = {
  commandTimeoutMs: TIMEOUT_MS,
  durability: 'primary',
  forgetNodesAfterMs: 3_600_000,
  nodeIdleMs: 3_600_000,
  maxNodes: 100,
  mailboxJobs: 10,
  inbox: { maxMessages: 100, maxDeliveries: 3, maxDead: 10, maxDeadOfTenant: 10 },
  jobs: {
    bindingLeaseMs: 60_000,
    retentionMs: 300_000,
    maxRetained: 1_000,
    maxRetainedBytes: 1_000_000,
    maxInflight: 1_000,
    maxBindings: 1_000,
    resultInlineMaxBytes: 100_000,
    liveMarginMs: 16_000,
  },
  usage: { retentionDays: 1 },
};

export interface Process {
  readonly machine: Machine;
  readonly store: SharedStore;
  readonly jobs: SharedJobStore;
}

export function createStoreRig(settings: Partial<StoreSettings> = {}, seed = 'rig') {
  const time = createVirtualTime();
  const store = createSimulatedStore({
    time,
    chance: seededChance(seed),
    settings: { ...SETTINGS, ...settings },
  });

  function start(name: string): Process {
    const machine = createMachine({ time, name });
    const own = store.storeFor(machine);
    const by = { instanceId: name, driver: () => `${name}/1`, digest: (text: string) => text };
    return { machine, store: own, jobs: own.jobs({ ...by, onAudioDropped: () => undefined }) };
  }

  /** What happens to the call within this time, and how long it took. */
  async function within<T>(ms: number, ask: Promise<T>): Promise<Ended<T>> {
    const begun = time.now();
    let ended: Ended<T> = { kind: 'open', tookMs: ms };
    ask.then(
      (value) => {
        ended = { kind: 'answered', value, tookMs: time.now() - begun };
      },
      (fault: Error & { isUnsent?: boolean; code?: string }) => {
        const { code = '', isUnsent = false } = fault;
        ended = { kind: 'failed', code, isUnsent, tookMs: time.now() - begun };
      },
    );
    await time.runUntil(begun + ms);
    return ended;
  }

  async function answered<T>(ask: Promise<T> | T, ms = 10): Promise<T> {
    const ended = await within(ms, Promise.resolve(ask));
    if (ended.kind !== 'answered') throw new Error(`expected an answer: ${JSON.stringify(ended)}`);
    return ended.value;
  }

  /** The id of a node that lies on this shard. */
  function nodeOn(shard: number): string {
    for (let at = 0; ; at += 1) if (store.shardOfNode(`node-${at}`) === shard) return `node-${at}`;
  }

  function jobOn(shard: number, now: number): JobRecord {
    for (;;) {
      const draft = draftJob(now);
      if (store.shardOfJob(draft.jobId) === shard) return draft;
    }
  }

  async function move(
    { jobs }: Process,
    job: JobRecord,
    state: JobState,
    parts: Omit<Partial<JobChange>, 'state'> = {},
  ): Promise<JobRecord> {
    const moved = await answered(jobs.move(job.jobId, expectedOf(job), changeTo(state, parts)));
    if (moved.kind !== 'moved') throw new Error(moved.kind);
    return moved.job;
  }

  return {
    time,
    store,
    here: start('here'),
    there: start('there'),
    start,
    within,
    answered,
    nodeOn,
    jobOn,
    move,
  };
}

export type Ended<T> =
  | { readonly kind: 'open'; readonly tookMs: number }
  | { readonly kind: 'answered'; readonly value: T; readonly tookMs: number }
  | { readonly kind: 'failed'; readonly code: string; readonly isUnsent: boolean; readonly tookMs: number };
