/** What there is to break in a run, and how a break says whom it hits. */
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

/** Says whom it hits, and is called when it does; the answer is called when it no longer does. */
export type Begin = (target: string) => () => void;
/** Breaks something and heals it again. */
export type Break = (planned: PlannedFault, begin: Begin) => Promise<void>;
