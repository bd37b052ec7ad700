/** Several instances in one process: stepped time, and the simulated store without network and faults as their shared store. */
import { createMemoryStore } from '../../../simulation/src/store/memory-store.ts';
import type { StoreSettings } from '../../../simulation/src/store/store-settings.ts';
import type { SharedStore } from '../../src/app/shared-store.ts';
import type { Clock } from '../../src/ports/clock.ts';
import type { Instance } from '../../src/ports/instances.ts';
import { createManualClock, type ManualClock } from './manual-clock.ts';

export const STARTED_AT = 1_699_999_000_000;

const TTL_MS = 3_600_000;

export interface TestCluster<C extends Clock> {
  readonly clock: C;
  /** The store as one instance uses it, for tests in which all instances may use the same. */
  readonly store: SharedStore;
  /** The store as another instance uses it, with subscriptions of its own. */
  open(): SharedStore;
  /** The store loses all data, like by FLUSHALL. */
  empty(): void;
  /** Makes an instance present for the rest of the test, with an inbox. */
  announce(instanceId: string, parts?: Partial<Instance>): Promise<Instance>;
}

export const instanceNamed = (instanceId: string, parts: Partial<Instance> = {}): Instance => ({
  instanceId,
  incarnation: `${instanceId}-1`,
  startedAt: STARTED_AT,
  hostname: 'host-1',
  pid: 4711,
  version: '1.2.3',
  advertiseUrl: `http://${instanceId}:5010`,
  ...parts,
});

interface Options {
  readonly settings?: Partial<StoreSettings>;
  readonly onFault?: (fault: unknown) => void;
}

export function createTestCluster(options?: Options): TestCluster<ManualClock>;
export function createTestCluster<C extends Clock>(options: Options & { readonly clock: C }): TestCluster<C>;
export function createTestCluster({
  clock = createManualClock(),
  ...options
}: Options & { readonly clock?: Clock } = {}): TestCluster<Clock> {
  const { open, empty } = createMemoryStore({ clock, ...options });
  const store = open();
  return {
    clock,
    store,
    open,
    empty,
    async announce(instanceId, parts) {
      const instance = instanceNamed(instanceId, parts);
      await store.instances.announce(instance, TTL_MS);
      await store.inbox.open(instanceId);
      return instance;
    },
  };
}
