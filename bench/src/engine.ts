/** The real engine and registry on the given adapters, with a fleet of equal nodes. */
import { getHeapStatistics } from 'node:v8';
import { createAudioStore } from '../../packages/scheduler/dist/adapters/memory/audio-store.js';
import { createPrometheusMeter } from '../../packages/scheduler/dist/adapters/prometheus/meter.js';
import { systemClock as clock } from '../../packages/scheduler/dist/adapters/system/clock.js';
import {
  declarationLimits,
  jobServiceSettings,
  managementSettings,
} from '../../packages/scheduler/dist/app/settings/settings-from-config.js';
import { configuredTenancy } from '../../packages/scheduler/dist/app/settings/tenancy.js';
import type { Config } from '../../packages/scheduler/dist/config/settings.js';
import type { NodeNumbers } from '../../packages/scheduler/dist/domain/numbered/node-numbers.js';
import { createNodeRegistry } from '../../packages/scheduler/dist/management/create-node-registry.js';
import type { Registration } from '../../packages/scheduler/dist/management/node-registry.js';
import { createDeclarationBudget } from '../../packages/scheduler/dist/management/registration/declaration-budget.js';
import type { CapacityLedger } from '../../packages/scheduler/dist/ports/capacity-ledger.js';
import type { IdSource } from '../../packages/scheduler/dist/ports/id-source.js';
import type { JobEvents } from '../../packages/scheduler/dist/ports/job-events.js';
import type { JobStore } from '../../packages/scheduler/dist/ports/job-store.js';
import type { NodeIdClaims } from '../../packages/scheduler/dist/ports/node-id-claims.js';
import type { NodeLink } from '../../packages/scheduler/dist/ports/node-link.js';
import { createJobService } from '../../packages/scheduler/dist/runtime/create-job-service.js';
import { createFleetView } from '../../packages/scheduler/dist/runtime/fleet/fleet-view.js';

export interface EngineParts {
  readonly config: Config;
  readonly ids: IdSource;
  /** A ledger of this process finds nodes by the numbers of the fleet. */
  readonly ledger: (numbers: NodeNumbers) => CapacityLedger;
  readonly store: JobStore;
  readonly nodeIdClaims: NodeIdClaims;
  readonly events: JobEvents;
  readonly link: NodeLink;
}

const HEAP_BYTES = getHeapStatistics().heap_size_limit;

export const QUIET = { debug() {}, info() {}, warn() {}, error() {} };

export function createEngine({ config, ids, store, nodeIdClaims, events, link, ...parts }: EngineParts) {
  const fleet = createFleetView();
  const ledger = parts.ledger(fleet.numbers);
  const meter = createPrometheusMeter();
  const registry = createNodeRegistry({
    clock,
    ids,
    ledger,
    nodeIdClaims,
    meter,
    log: QUIET,
    settings: managementSettings(config),
    budget: createDeclarationBudget({ limits: declarationLimits(config, HEAP_BYTES), meter }).own,
    events: {
      changed: (view) => fleet.upsert(view),
      loaded(nodeId, load) {
        fleet.setLoad(nodeId, load);
        fleet.beat(nodeId, clock.now());
      },
      removed: (nodeId) => fleet.remove(nodeId),
      statusChanged() {},
      ordered() {},
      disconnected() {},
      connected() {},
    },
  });
  const jobs = createJobService({
    clock,
    chance: Math.random,
    ids,
    ledger,
    store,
    events,
    audio: createAudioStore({ maxBytes: 1e9, maxBytesPerJob: 1e6 }),
    link,
    meter,
    log: QUIET,
    fleet,
    nodes: {
      profile: fleet.profile,
      placed: (nodeId, need) => registry.recordPlacement(nodeId, need),
      outcome: (nodeId, outcome, need) => registry.recordOutcome(nodeId, outcome, need),
      modelNotAvailable() {},
    },
    tenancy: configuredTenancy(config, () => 1),
    settings: jobServiceSettings(config),
  });
  const generations = new Map<string, number>();
  return {
    generations,
    jobs,
    registry,
    fleet,
    async register(each: Registration) {
      const registered = await registry.register(each);
      if (registered.kind !== 'registered') throw new Error(registered.message);
      generations.set(registered.nodeId, registered.generation);
    },
    /** A node without a heartbeat for 45 s is stale: whatever takes longer must send heartbeats. */
    async beatAll() {
      for (const [nodeId, generation] of generations)
        await registry.heartbeat({ nodeId, generation, resources: { runningJobs: 0 }, runningJobIds: [] });
    },
    stop() {
      jobs.stop();
      registry.stop();
    },
  };
}
