/**
 * Composition root: this instance among others. What it owns is told to them, what they own is known here, and what concerns
 * somebody else's job, node or session finds its way there.
 */
import { guardJobStore } from '../cluster/guards/job-store.ts';
import { guardLedger } from '../cluster/guards/ledger.ts';
import { createLastKnownInstances } from '../cluster/membership/last-known-instances.ts';
import { createPresence } from '../cluster/membership/presence.ts';
import { nameOfProcess, type ProcessName } from '../cluster/membership/process-name.ts';
import { createHints } from '../cluster/messaging/hints.ts';
import { createNodeReplica } from '../cluster/nodes/node-replica.ts';
import { EVERYTHING } from '../cluster/recovery/failover-replay.ts';
import { createSessionRelease } from '../cluster/recovery/session-release.ts';
import type { Config } from '../config/settings.ts';
import { driverName } from '../domain/ids.ts';
import type { Chance } from '../ports/chance.ts';
import type { Clock } from '../ports/clock.ts';
import type { IdSource } from '../ports/id-source.ts';
import type { JobEvents } from '../ports/job-events.ts';
import type { Log } from '../ports/log.ts';
import type { Meter } from '../ports/meter.ts';
import { createHolderForwarding } from '../transport/link/forward-to-holder.ts';
import { guardStore } from './guarded-store.ts';
import type { LocalParts } from './local-parts.ts';
import { createMultiInstanceJobs } from './multi-instance-jobs.ts';
import { createMessaging } from './multi-instance-messages.ts';
import { createNodeEvents, recordNews } from './node-events.ts';
import type { SharedStore } from './redis-store.ts';
import { ledgerSettings, presenceSettings, replicaSettings } from './settings/shared-settings.ts';
import { VERSION } from './version.ts';

export type MultiInstance = ReturnType<typeof createMultiInstance>;

const OWN_NAME = 'give each its own scheduler.phase2.instance_id, or leave it at "auto"';
const READY = { isReady: true, reasons: [] };
const JOINING = { isReady: false, reasons: ['joining'] };
const STORE_AWAY = { isReady: false, reasons: ['store'] };

export function createMultiInstance(deps: {
  readonly config: Config;
  readonly process: ProcessName;
  readonly store: SharedStore;
  readonly clock: Clock;
  readonly chance: Chance;
  readonly ids: IdSource;
  readonly meter: Meter;
  readonly log: Log;
  /** Tells waiters of this process. */
  readonly localEvents: JobEvents;
  readonly local: LocalParts;
}) {
  const { config, store, clock, chance, ids, meter, log, local } = deps;
  const { hostname, pid, newName } = deps.process;
  const { scheduler } = config;
  const { phase2 } = scheduler;
  const instanceId = phase2.instance_id === 'auto' ? nameOfProcess(deps.process) : phase2.instance_id;
  let advertiseUrl: string | undefined;
  let hasJoined = false;
  let watch: ReturnType<SharedStore['watch']> | undefined;
  let returnedAt = Number.NEGATIVE_INFINITY;
  let instanceCount = 1;
  /** Who was silent lately may have been so because nobody could be told. */
  const isStoreSteady = (): boolean =>
    watch?.isWell() !== false && clock.now() - returnedAt > 2 * scheduler.ack_timeout_ms;

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
        local.cutEverybody();
      },
      emptied() {
        store.mark().catch((fault: unknown) => log.error({ err: fault }, 'the store has another schema'));
        void ofJobs.failoverReplay.run(EVERYTHING);
      },
      reincarnated: () => void ofJobs.takeover.takeOverPrevious(),
      seen(alive) {
        instanceCount = Math.max(1, alive.size);
        ofJobs.seen(alive);
        replica.seen(alive);
      },
      died(instanceIds) {
        for (const each of instanceIds) replica.removeNodesOf(each);
        ofJobs.died(instanceIds);
      },
    },
  });
  const { isFenced, living } = presence;
  const driver = (): string => driverName(presence.self());
  // What all share.
  const onAudioDropped = (): void => meter.count('scheduler_result_audio_dropped_total');
  const guarded = guardStore({
    store,
    isFenced,
    credentialOf: (nodeId) => (replica.find(nodeId) ?? local.registry().get(nodeId))?.credential,
  });
  const jobStore = guarded.jobs({ instanceId, driver, digest: ids.digest, onAudioDropped });
  const events = store.events({ instanceId, local: deps.localEvents, store: jobStore });
  const hints = createHints({
    hintBus: store.hintBus,
    clock,
    log,
    instanceId,
    isFenced,
    loadOf: (nodeId) => local.fleet.load(nodeId),
    events: {
      loaded: (nodeId, load) => local.fleet.setLoad(nodeId, load),
      nodeNews: (...news) => recordNews(local.registry(), ...news),
      missing: local.heardMissing,
      partial: ({ jobId, text, isFinal, nodeId }) => local.sessions().partial(jobId, text, isFinal, nodeId),
    },
  });
  const ledger = guardLedger({
    ledger: guarded.ledger,
    settled: (nodeId) => failoverReplay.settled(nodeId),
    noteLoad: hints.load,
    clock,
    ...ledgerSettings(config),
  });

  const messages = { config, instanceId, store, presence, clock, ids, meter, log };
  const { bus, reader } = createMessaging(messages);

  // Nodes of all instances.
  const nodeNews = createNodeEvents({
    config,
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
    settings: replicaSettings(config),
    events: {
      ...nodeNews.ofOthers,
      overtaken(nodeId, generation) {
        local.cutNode(nodeId);
        local.registry().overtaken(nodeId, generation);
      },
    },
  });
  const holders = (): ReturnType<typeof createHolderForwarding> =>
    createHolderForwarding({
      bus,
      registry: local.registry(),
      replica,
      usedSlots: (nodeId) => local.fleet.load(nodeId)?.used,
      answerMs: scheduler.ack_timeout_ms,
    });

  const ofJobs = createMultiInstanceJobs({
    config,
    store,
    jobStore,
    ledger: guarded.ledger,
    mailbox: guarded.mailbox,
    presence,
    driver,
    bus,
    replica,
    hints,
    clock,
    ids,
    meter,
    log,
    local,
  });
  const { takeover, failoverReplay } = ofJobs;

  return {
    instanceId,
    driver,
    isFenced,
    isStoreSteady,
    handling: reader.handling,
    self: presence.self,
    living,
    /** How many live, as last seen. */
    instances: () => instanceCount,
    jobStore: guardJobStore({ jobs: jobStore, othersReplayed: failoverReplay.othersReplayed }),
    events,
    ledger,
    nodeIdClaims: guarded.nodeIdClaims,
    sessionStore: guarded.sessions,
    locks: guarded.locks,
    modelDebounce: guarded.modelDebounce,
    nodeNews,
    replica,
    holders,
    ...ofJobs,

    /** Asks whoever has a session to let it go. */
    releaseSession: createSessionRelease({
      bus,
      self: driver,
      release: (sessionId) => local.sessions().release(sessionId),
    }),

    readiness: () => (!hasJoined ? JOINING : isFenced() || !store.isReachable() ? STORE_AWAY : READY),

    async start(address: string | undefined): Promise<void> {
      advertiseUrl = address;
      if ((await presence.start()) === 'taken') {
        throw new Error(`another living instance has the name ${instanceId}; ${OWN_NAME}`);
      }
      // Only under a name that others know: should this instance die in between, nobody would ever look for its inbox.
      await store.inbox.open(instanceId);
      await hints.start();
      await replica.start();
      // Its jobs before its messages: what is said of a job that nobody drives yet comes again only after a while.
      await takeover.takeOverPrevious();
      reader.start();
      watch = store.watch(instanceId, {
        changed: (affected) => void failoverReplay.run(affected),
        returned() {
          returnedAt = clock.now();
          presence.holdOff();
        },
      });
      hasJoined = true;
    },
    withdraw: nodeNews.withdraw,
    /** Says good-bye: what is left is adopted at once. */
    async stop(): Promise<void> {
      watch?.close();
      await replica.stop();
      await hints.stop();
      await reader.stop();
      ofJobs.pending.stop();
      await jobStore.close().catch((fault: unknown) => log.warn({ err: fault }, 'indexes were not written'));
      await presence.stop();
      await events.close();
      store.close();
    },
  };
}
