/** The simulated store without network and faults, on any clock: what several instances share in tests that run in one process. */
import type { SharedStore } from '../../../scheduler/dist/app/shared-store.js';
import type { Clock } from '../../../scheduler/dist/ports/clock.js';
import { openStore } from './open-store.ts';
import { createDirectLines } from './servers/direct-lines.ts';
import { createShard } from './servers/shard.ts';
import type { StoreSettings } from './store-settings.ts';

const HOUR_MS = 3_600_000;

/** Limits that only a test of the limit reaches. */
const SETTINGS: StoreSettings = {
  commandTimeoutMs: 800,
  durability: 'primary',
  forgetNodesAfterMs: HOUR_MS,
  nodeIdleMs: HOUR_MS,
  maxNodes: 10_000,
  mailboxJobs: 1_000,
  inbox: { maxMessages: 10_000, maxDeliveries: 3, maxDead: 1_000, maxDeadOfTenant: 1_000 },
  jobs: {
    bindingLeaseMs: 90_000,
    retentionMs: 300_000,
    maxRetained: 10_000,
    maxRetainedBytes: 10_000_000,
    maxInflight: 100_000,
    maxBindings: 10_000,
    resultInlineMaxBytes: 512 * 1024,
    liveMarginMs: 60_000,
  },
  usage: { retentionDays: 90 },
};

export interface MemoryStore {
  /** The store as one instance uses it. */
  open(): SharedStore;
  /** Everything in it is lost, as by FLUSHALL. */
  empty(): void;
}

export function createMemoryStore(deps: {
  clock: Clock;
  settings?: Partial<StoreSettings>;
  onFault?: (fault: unknown) => void;
}): MemoryStore {
  const { clock, onFault } = deps;
  const shard = createShard({ index: 0, clock });
  return {
    open: () =>
      openStore({
        clock,
        lines: createDirectLines(shard),
        settings: { ...SETTINGS, ...deps.settings },
        planAfter: (ms, run) => void clock.after(ms, run),
        onWatch() {},
        onClose() {},
        onFault,
      }),
    empty: () => shard.empty(),
  };
}
