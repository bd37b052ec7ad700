/** Hot and cold path composed as in the app, without servers, on a clock that the test steps. */
import type { JobAssign, JobCancel } from '@lingua/protocol';
import { createAudioStore } from '../../../src/adapters/memory/audio-store.ts';
import { createCapacityLedger } from '../../../src/adapters/memory/capacity-ledger.ts';
import { createJobEvents } from '../../../src/adapters/memory/job-events.ts';
import { createJobStore } from '../../../src/adapters/memory/job-store.ts';
import { createNodeIdClaims } from '../../../src/adapters/memory/node-id-claims.ts';
import { createNodeMailbox } from '../../../src/adapters/memory/node-mailbox.ts';
import { createPrometheusMeter } from '../../../src/adapters/prometheus/meter.ts';
import { createIdSource } from '../../../src/adapters/system/id-source.ts';
import { createLog } from '../../../src/adapters/system/log.ts';
import {
  declarationLimits,
  jobServiceSettings,
  jobStoreLimits,
  managementSettings,
} from '../../../src/app/settings/settings-from-config.ts';
import { configuredTenancy } from '../../../src/app/settings/tenancy.ts';
import type { Config } from '../../../src/config/settings.ts';
import type { NodeView } from '../../../src/domain/node.ts';
import { useOf } from '../../../src/domain/service-use.ts';
import { createNodeRegistry } from '../../../src/management/create-node-registry.ts';
import { createDeclarationBudget } from '../../../src/management/registration/declaration-budget.ts';
import type { CapacityLedger } from '../../../src/ports/capacity-ledger.ts';
import type { Clock } from '../../../src/ports/clock.ts';
import { createJobService, type RunningJobService } from '../../../src/runtime/create-job-service.ts';
import { createFleetView } from '../../../src/runtime/fleet/fleet-view.ts';
import { createNodeLink } from '../../../src/transport/link/node-link.ts';

export function composeCore(deps: {
  readonly clock: Clock;
  readonly config: Config;
  /** Replaces calls of the cold path to the ledger. */
  readonly coldLedger?: Partial<CapacityLedger>;
  readonly onChange?: (view: NodeView) => void;
}) {
  const { clock, config } = deps;
  const ids = createIdSource({ clock, digestsRequests: true });
  const meter = createPrometheusMeter();
  const log = createLog('silent');
  const ledger = createCapacityLedger({ clock });
  const mailbox = createNodeMailbox<JobAssign | JobCancel>({ clock, ledger, maxPerNode: 64 });
  const audio = createAudioStore({ maxBytes: 1_000_000, maxBytesPerJob: 1_000 });
  const fleet = createFleetView();
  const registry = createNodeRegistry({
    clock,
    ids,
    ledger: { ...ledger, ...deps.coldLedger },
    nodeIdClaims: createNodeIdClaims({ maxNodes: config.scheduler.max_nodes }),
    meter,
    log,
    settings: managementSettings(config),
    budget: createDeclarationBudget({ limits: declarationLimits(config, 1_000_000_000), meter }).own,
    events: {
      changed(view) {
        fleet.upsert(view);
        deps.onChange?.(view);
      },
      loaded: (nodeId, load) => fleet.setLoad(nodeId, load),
      removed: (nodeId) => fleet.remove(nodeId),
      statusChanged: () => {},
      ordered: () => {},
      disconnected: (nodeId, graceMs) => jobs.nodeLeft(nodeId, graceMs),
      connected: (nodeId, runningJobIds) => jobs.nodeReturned(nodeId, runningJobIds),
    },
  });
  const jobs: RunningJobService = createJobService({
    tenancy: configuredTenancy(config, () => 1),
    clock,
    chance: Math.random,
    ids,
    ledger,
    store: createJobStore({ clock, ...jobStoreLimits(config) }),
    events: createJobEvents({ maxListeners: 10, onFault: () => {} }),
    audio,
    link: createNodeLink({
      sockets: { send: () => false, isConnected: () => false },
      ledger,
      mailbox,
      find: (nodeId) => registry.get(nodeId),
      audio,
      references: { refer: () => undefined, open: (message) => message },
      clock,
      log,
      settings: { endpointTimeoutMs: 1_000, committedMs: 65_000 },
    }),
    meter,
    log,
    fleet,
    settings: jobServiceSettings(config),
    nodes: {
      profile: (nodeId) => fleet.view(nodeId)?.profile,
      placed: (nodeId, need) => registry.recordPlacement(nodeId, useOf(need)),
      outcome: (nodeId, outcome, need) => registry.recordOutcome(nodeId, outcome, useOf(need)),
      modelNotAvailable: () => {},
    },
  });
  return { registry, jobs, fleet };
}
