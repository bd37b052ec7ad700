/** The parts of a run that can have faults, and how a fault names its target. */
import type { Recorder } from '../../../../packages/simulation/dist/history.js';
import type { ChaosClient } from '../clients/client.ts';
import type { FleetNode } from '../fleet/fleet-node.ts';
import type { PlannedFault } from '../plan-faults.ts';
import type { RedisStore } from '../rig/redis-store.ts';
import type { Schedulers } from '../rig/schedulers.ts';

export interface World {
  readonly recorder: Recorder;
  readonly schedulers: Schedulers;
  readonly store: RedisStore | undefined;
  readonly nodes: readonly FleetNode[];
  readonly clients: readonly ChaosClient[];
}

/** Called with its target when the fault begins; the returned function is called when it ends. */
export type Begin = (target: string) => () => void;
/** Begins a fault and ends it again. */
export type Break = (planned: PlannedFault, begin: Begin) => Promise<void>;
