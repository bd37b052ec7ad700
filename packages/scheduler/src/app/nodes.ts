/** Composition root: the nodes of this instance: their registry, connected to selection and the engine, and the link by which they get jobs. */
import type { JobAssign, JobCancel } from '@lingua/protocol';
import { createEndpointCaller } from '../adapters/http/endpoint-caller.ts';
import type { Config } from '../config/settings.ts';
import { createNodeRegistry } from '../management/create-node-registry.ts';
import { createModelReports } from '../management/marks/model-reports.ts';
import { createNodeKnowledge } from '../management/node-knowledge.ts';
import type { RegistryEvents } from '../management/node-registry.ts';
import type { NodeBudget } from '../management/registration/declaration-budget.ts';
import type { AudioFetcher } from '../ports/audio-fetcher.ts';
import type { AudioStore } from '../ports/audio-store.ts';
import type { CapacityLedger } from '../ports/capacity-ledger.ts';
import type { Clock } from '../ports/clock.ts';
import type { IdSource } from '../ports/id-source.ts';
import type { Locks } from '../ports/locks.ts';
import type { Log } from '../ports/log.ts';
import type { Meter } from '../ports/meter.ts';
import type { NodeIdClaims } from '../ports/node-id-claims.ts';
import type { NodeMailbox } from '../ports/node-mailbox.ts';
import type { RunningJobService } from '../runtime/create-job-service.ts';
import type { NodeKnowledge } from '../runtime/engine.ts';
import type { FleetView } from '../runtime/fleet/fleet-view.ts';
import { createNetworks } from '../transport/access/networks.ts';
import type { AudioReferences } from '../transport/link/audio-references.ts';
import { createNodeLink, heartbeatMailbox } from '../transport/link/node-link.ts';
import type { NodeSockets } from '../transport/ws/node-sockets.ts';
import type { Webhooks } from '../webhooks/create-webhooks.ts';
import type { MultiInstance } from './multi-instance.ts';
import { linkSettings, managementSettings, modelReportSettings } from './settings/settings-from-config.ts';

export function createNodes(parts: {
  readonly config: Config;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly meter: Meter;
  readonly log: Log;
  readonly fleet: FleetView;
  readonly sockets: NodeSockets;
  readonly ledger: CapacityLedger;
  readonly nodeIdClaims: NodeIdClaims;
  readonly mailbox: NodeMailbox<JobAssign | JobCancel>;
  readonly audio: AudioStore;
  readonly references: AudioReferences;
  /** Fetches audio that other instances hold. */
  readonly fetcher: AudioFetcher;
  readonly multiInstance: MultiInstance | undefined;
  readonly budget: NodeBudget;
  readonly jobs: () => Pick<RunningJobService, 'nodeLeft' | 'nodeReturned'>;
  readonly modelDebounce: Locks;
  /** A node lacks a model. Called once per service, version and window, on one of all instances. */
  readonly withdrawn: (serviceId: string, version: string) => void;
  readonly webhooks: Pick<Webhooks, 'nodeOffline'>;
}) {
  const { config, clock, ids, meter, log, fleet, sockets, ledger, nodeIdClaims, mailbox } = parts;
  const { audio, references, multiInstance, jobs } = parts;

  const events: RegistryEvents = {
    changed: (view) => fleet.upsert(view),
    loaded(nodeId, load) {
      fleet.setLoad(nodeId, load);
      fleet.beat(nodeId, clock.now());
    },
    removed(nodeId) {
      fleet.remove(nodeId);
      Promise.all([mailbox.forget(nodeId), mailbox.forget(heartbeatMailbox(nodeId))]).catch(
        (fault: unknown) =>
          log.warn({ node_id: nodeId, err: fault }, 'the mailbox of a removed node could not be emptied'),
      );
    },
    statusChanged(nodeId, health, reason, from) {
      sockets.pushStatus(nodeId, health, reason);
      // A node that drains is expected to go.
      if (health === 'offline' && from !== 'draining') parts.webhooks.nodeOffline(nodeId, reason);
    },
    ordered: (nodeId, order) => sockets.order(nodeId, order),
    disconnected: (nodeId, graceMs) => jobs().nodeLeft(nodeId, graceMs),
    connected: (nodeId, runningJobIds) => jobs().nodeReturned(nodeId, runningJobIds),
  };
  const registry = createNodeRegistry({
    clock,
    ids,
    ledger,
    nodeIdClaims,
    meter,
    log,
    settings: managementSettings(config),
    budget: parts.budget,
    events: multiInstance?.nodeEvents.ofOwn(events) ?? events,
    markedElsewhere: (nodeId) => fleet.view(nodeId)?.markedServices ?? [],
  });

  const modelReports = createModelReports({
    clock,
    log,
    meter,
    registry,
    passOn: multiInstance?.nodeEvents.passOnMissing ?? (() => false),
    locks: parts.modelDebounce,
    withdrawn: parts.withdrawn,
    settings: modelReportSettings(config),
  });

  const endpoints = createEndpointCaller({
    networks: createNetworks(config.server.endpoint_networks),
    signingKey: config.server.callback_key,
    now: clock.now,
  });
  const localLink = createNodeLink({
    sockets,
    ledger,
    mailbox,
    endpoints,
    find: multiInstance?.nodeEvents.find ?? registry.get,
    audio,
    references,
    fetcher: parts.fetcher,
    clock,
    log,
    settings: linkSettings(config),
  });
  const knowledge: NodeKnowledge = createNodeKnowledge({
    profile: fleet.profile,
    registry,
    modelNotAvailable: modelReports.report,
  });

  return {
    registry,
    modelReports,
    endpoints,
    link: multiInstance?.link(localLink) ?? localLink,
    localLink,
    knowledge: multiInstance?.nodeEvents.knowledge(knowledge) ?? knowledge,
  };
}
