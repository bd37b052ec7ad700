/** Composition root: one of several instances: membership, messages, nodes, jobs and sessions that are shared through the store. */

import { VERSION } from '../cli/version.ts';
import { guardJobStore } from '../cluster/guards/job-store.ts';
import { guardLedger } from '../cluster/guards/ledger.ts';
import { guardNodeIdClaims } from '../cluster/guards/node-id-claims.ts';
import { unlessFenced } from '../cluster/membership/fencing.ts';
import { createLastKnownInstances } from '../cluster/membership/last-known-instances.ts';
import { createPresence } from '../cluster/membership/presence.ts';
import type { ProcessName } from '../cluster/membership/process-name.ts';
import { createHints } from '../cluster/messaging/hints.ts';
import { createRoomMessages } from '../cluster/messaging/room-messages.ts';
import { createTenantOfMessage } from '../cluster/messaging/tenant-of-message.ts';
import { createNodeEvents, recordAttemptOutcome } from '../cluster/nodes/node-events.ts';
import { createNodeReplica } from '../cluster/nodes/node-replica.ts';
import { createAskInstances } from '../cluster/operators/ask-instances.ts';
import { createCloseSession } from '../cluster/operators/close-session.ts';
import { createGather } from '../cluster/operators/gather.ts';
import { EVERYTHING } from '../cluster/recovery/failover-replay.ts';
import { createRoomTakeover } from '../cluster/recovery/room-takeover.ts';
import { createSessionRelease } from '../cluster/recovery/session-release.ts';
import { createStoreSteadiness } from '../cluster/recovery/store-steadiness.ts';
import { presenceTtlMs } from '../config/nesting.ts';
import type { Config } from '../config/settings.ts';
import type { NodeId } from '../domain/ids.ts';
import type { NodeBudget } from '../management/registration/declaration-budget.ts';
import type { Chance } from '../ports/chance.ts';
import type { Clock } from '../ports/clock.ts';
import type { IdSource } from '../ports/id-source.ts';
import type { JobEvents } from '../ports/job-events.ts';
import type { Log } from '../ports/log.ts';
import type { Meter } from '../ports/meter.ts';
import type { RecentAttempts } from '../runtime/attempts/recent-attempts.ts';
import type { ActivityHint, RoomMessage, RoomStores } from '../session/rooms/room-deps.ts';
import type { RemoteNodes } from '../transport/http/views/remote-nodes.ts';
import { createHolderForwarding } from '../transport/link/forward-to-holder.ts';
import { createMultiInstanceJobs, type LocalParts } from './multi-instance-jobs.ts';
import { createMessaging } from './multi-instance-messages.ts';
import type { SharedStore } from './redis-store.ts';
import { roomLogLimits } from './settings/room-settings.ts';
import { ledgerSettings, presenceSettings, replicaSettings } from './settings/shared-settings.ts';

export type MultiInstance = ReturnType<typeof createMultiInstance>;

const OWN_NAME = 'give each its own scheduler.cluster.instance_id, or leave it at "auto"';
const READY = { isReady: true, reasons: [] };
/** A person waits: an instance that does not answer in time is named. */
const GATHER_MS = 1_000;
const JOINING = { isReady: false, reasons: ['joining'] };
const STORE_AWAY = { isReady: false, reasons: ['store'] };

export function createMultiInstance(deps: {
  readonly config: Config;
  readonly process: ProcessName;
  readonly store: SharedStore;
  readonly clock: Clock;
  readonly chance: Chance;
  /** Limits what nodes of other instances declare. */
  readonly budget: NodeBudget;
  readonly ids: IdSource;
  readonly meter: Meter;
  readonly log: Log;
  /** The subscribers in this process. */
  readonly localEvents: JobEvents;
  readonly local: LocalParts;
}) {
  const { config, store, clock, chance, ids, meter, log, local } = deps;
  const { instanceId, hostname, pid, newName } = deps.process;
  const { scheduler } = config;
  let advertiseUrl: string | undefined;
  let hasJoined = false;
  let watch: ReturnType<SharedStore['watch']> | undefined;
  let instanceCount = 1;
  let receiveFigures: (from: string, figures: unknown) => void = () => {};
  const steadiness = createStoreSteadiness({ clock, recoveryMs: 2 * scheduler.ack_timeout_ms });
  const isStoreSteady = steadiness.isSteady;

  const presence = createPresence({
    instances: createLastKnownInstances({
      instances: store.instances,
      onUncertain: () => presence.holdOff(),
    }),
    clock,
    log,
    settings: presenceSettings(config),
    first: {
      instanceId,
      incarnation: newName(),
      startedAt: clock.now(),
      hostname,
      pid,
      version: VERSION,
      get advertiseUrl() {
        return advertiseUrl;
      },
    },
    newIncarnation: newName,
    events: {
      lost() {
        local.jobs().dropAll();
        local.sessions().abandonAll();
        local.rooms().abandonAll();
        local.cutAllNodes();
      },
      emptied() {
        store
          .mark()
          .catch((fault: unknown) =>
            log.error({ err: fault }, 'the schema version could not be written after data loss'),
          );
        void clusterJobs.failoverReplay.run(EVERYTHING);
      },
      reincarnated() {
        void clusterJobs.takeover.takeOverPrevious();
        void roomTakeover.takeOverPrevious();
      },
      seen(alive) {
        instanceCount = Math.max(1, alive.size);
        clusterJobs.seen(alive);
        replica.seen(alive);
      },
      died(instanceIds) {
        for (const each of instanceIds) replica.removeNodesOf(each);
        clusterJobs.died(instanceIds);
        roomTakeover.died(instanceIds);
      },
    },
  });
  const { isFenced, living, driver } = presence;
  const onAudioDropped = (): void => meter.count('scheduler_result_audio_dropped_total');
  const guarded = guardStore({
    store,
    isFenced,
    credentialOf: (nodeId) => (replica.find(nodeId) ?? local.registry().get(nodeId))?.credential,
  });
  const jobStore = guarded.jobs({
    instanceId,
    driver,
    digest: ids.digest,
    onAudioDropped,
    usage: local.usage,
  });
  const events = store.events({ instanceId, local: deps.localEvents, store: jobStore });
  const hints = createHints({
    hintBus: store.hintBus,
    clock,
    log,
    instanceId,
    isFenced,
    loadOf: local.fleet.load,
    events: {
      loaded: local.fleet.setLoad,
      attemptOutcome: recordAttemptOutcome(local.registry),
      missing: local.reportMissing,
      partial: (partial) => clusterJobs.partialText.atDriver(partial),
      followed: (partial) => local.partialTexts.publish(partial.jobId, partial),
      room: (hint) => local.rooms().receiveHint(hint as ActivityHint),
      figures: (from, figures) => receiveFigures(from, figures),
      pace: (kindOfWork, nodeId, pace) => local.jobs().notePace(kindOfWork, nodeId, pace),
    },
  });
  const ledger = guardLedger({
    ledger: guarded.ledger,
    settled: (nodeId) => failoverReplay.settled(nodeId),
    noteLoad: hints.load,
    clock,
    ...ledgerSettings(config),
  });

  const roomStores = guardRooms(store.rooms(roomLogLimits(config)), isFenced);
  const tenantOf = createTenantOfMessage(async (jobId) => jobStore.get(jobId));
  const messages = { config, instanceId, store, tenantOf, presence, clock, ids, meter, log };
  const { bus, reader } = createMessaging(messages);
  const rooms = createRoomMessages<RoomMessage>({
    bus,
    receive: (message) => local.rooms().receive(message),
  });

  // Nodes of all instances.
  const nodeEvents = createNodeEvents({
    graceMs: scheduler.node_reconnect_grace_ms,
    fleet: local.fleet,
    ledger,
    jobs: local.jobs,
    registry: local.registry,
    replica: () => replica,
    hints,
    isStoreSteady,
    clock,
    log,
  });
  const replica = createNodeReplica({
    nodeRecords: store.nodeRecords,
    clock,
    chance,
    log,
    self: presence.self,
    isFenced,
    budget: deps.budget,
    settings: replicaSettings(config),
    events: {
      ...nodeEvents.ofOthers,
      overtaken(nodeId, generation) {
        local.cutNode(nodeId);
        local.registry().overtaken(nodeId, generation);
      },
    },
  });
  const asking = { bus, self: presence.self, living };
  const ask = createAskInstances({ ...asking, answerMs: scheduler.ack_timeout_ms });
  const holders = (recentAttempts: Pick<RecentAttempts, 'of'>): RemoteNodes =>
    createHolderForwarding({
      bus,
      ask,
      registry: local.registry(),
      replica,
      usedSlots: (nodeId) => local.fleet.load(nodeId)?.used,
      recentAttempts,
      clock,
      instanceId,
      answerMs: scheduler.ack_timeout_ms,
    });

  const clusterJobs = createMultiInstanceJobs({
    config,
    store,
    jobStore,
    tenantOf,
    ledger: guarded.ledger,
    mailbox: guarded.mailbox,
    presence,
    bus,
    replica,
    hints,
    clock,
    ids,
    meter,
    log,
    local,
  });
  const { takeover, failoverReplay } = clusterJobs;
  const roomTakeover = createRoomTakeover({
    living,
    self: presence.self,
    takeOver: (dead) => local.rooms().takeOver(dead),
    turnMs: presenceTtlMs(config) / 2,
    clock,
    log,
  });

  return {
    instanceId,
    driver,
    isFenced,
    isStoreSteady,
    storeNow: presence.storeNow,
    handling: reader.handling,
    /** Asks all instances, for people who wait for the answer. */
    gather: createGather({ ...asking, ask: createAskInstances({ ...asking, answerMs: GATHER_MS }) }),
    /** Figures for operators, by hints: some may be lost. */
    figures: {
      send: hints.figures,
      onReceived(receive: typeof receiveFigures): void {
        receiveFigures = receive;
      },
    },
    paceLearnt: hints.pace,
    roomHint: (follower: string, hint: ActivityHint): void =>
      hints.room(follower.slice(0, follower.lastIndexOf('/')), hint),
    self: presence.self,
    living,
    /** The number of living instances, as last read. */
    instances: () => instanceCount,
    jobStore: guardJobStore({ jobs: jobStore, othersReplayed: failoverReplay.othersReplayed }),
    events,
    ledger,
    nodeIdClaims: guarded.nodeIdClaims,
    sessionStore: guarded.sessions,
    roomStores,
    rooms,
    locks: guarded.locks,
    modelDebounce: guarded.modelDebounce,
    usageStore: guarded.usage,
    glossaryStore: store.glossaries,
    nodeEvents,
    replica,
    holders,
    ...clusterJobs,

    /** What the erasure on all instances needs. */
    erasing: { bus, ask, sessionStore: guarded.sessions },

    /** Requests the release of a session from its holder. */
    releaseSession: createSessionRelease({
      bus,
      self: driver,
      release: (sessionId) => local.sessions().release(sessionId),
    }),

    /** Closes a session on whatever instance has it. */
    closeSession: createCloseSession({
      bus,
      ask,
      self: presence.self,
      close: (sessionId) => local.sessions().close(sessionId),
    }),

    readiness: () => (!hasJoined ? JOINING : isFenced() || !store.isReachable() ? STORE_AWAY : READY),

    async start(address: string | undefined): Promise<void> {
      advertiseUrl = address;
      if ((await presence.start()) === 'taken') {
        throw new Error(`another living instance has the name ${instanceId}; ${OWN_NAME}`);
      }
      // After the announcement: if this instance died before it, no other instance would find the inbox.
      await store.inbox.open(instanceId);
      await hints.start();
      await replica.start();
      // Jobs before messages: a report about a job without a driver would be retried only later.
      await takeover.takeOverPrevious();
      reader.start();
      watch = store.watch(instanceId, {
        changed: (affected) => void failoverReplay.run(affected),
        returned() {
          steadiness.returned();
          presence.holdOff();
        },
      });
      steadiness.watch(watch.isWell);
      hasJoined = true;
      void roomTakeover.takeOverPrevious();
    },
    withdraw: nodeEvents.withdraw,
    /** Leaves the cluster: other instances take over at once. */
    async stop(): Promise<void> {
      watch?.close();
      await replica.stop();
      await hints.stop();
      await reader.stop();
      clusterJobs.pending.stop();
      await local.flushUsage();
      await jobStore
        .close()
        .catch((fault: unknown) =>
          log.warn({ err: fault }, 'the job indexes could not be written at shutdown'),
        );
      await presence.stop();
      await events.close();
      store.close();
    },
  };
}

/** The stores of rooms, which reject while this instance is fenced. */
const guardRooms = ({ log, records, followers }: RoomStores, isFenced: () => boolean): RoomStores => ({
  log: unlessFenced(log, isFenced),
  records: unlessFenced(records, isFenced),
  followers: unlessFenced(followers, isFenced),
});

const NEEDS_NO_STORE = ['drives', 'levels', 'watchersOf'] as const;

/** The ports of the shared store, which reject while this instance is fenced. */
export function guardStore(deps: {
  store: SharedStore;
  isFenced: () => boolean;
  /** The credential of a node that this instance or its replica knows. */
  credentialOf: (nodeId: NodeId) => string | undefined;
}) {
  const { store, isFenced, credentialOf } = deps;
  return {
    ledger: unlessFenced(store.ledger, isFenced),
    mailbox: unlessFenced(store.mailbox, isFenced),
    sessions: unlessFenced(store.sessions, isFenced),
    locks: unlessFenced(store.locks, isFenced),
    modelDebounce: unlessFenced(store.modelDebounce, isFenced),
    usage: unlessFenced(store.usage, isFenced),
    nodeIdClaims: guardNodeIdClaims({
      nodeIdClaims: unlessFenced(store.nodeIdClaims, isFenced),
      credentialOf,
    }),
    jobs: (by: Parameters<SharedStore['jobs']>[0]) => unlessFenced(store.jobs(by), isFenced, NEEDS_NO_STORE),
  };
}
