/** Composition root: jobs whose node or driver is another instance: assignments, reports, and the takeover after a death. */

import { createDriverClaims } from '../cluster/driver/driver-claims.ts';
import { createReceiveReports } from '../cluster/driver/receive-reports.ts';
import { createSendToHolder } from '../cluster/driver/send-to-holder.ts';
import { guardMailbox } from '../cluster/guards/mailbox.ts';
import { acceptAssignments } from '../cluster/holder/accept-assignment.ts';
import { createDriverCache } from '../cluster/holder/driver-cache.ts';
import { createFindDriver } from '../cluster/holder/find-driver.ts';
import { createForwardPartialText } from '../cluster/holder/forward-partial-text.ts';
import { createForwardReports, type ForwardReports } from '../cluster/holder/forward-reports.ts';
import { createOwnNodeFacts } from '../cluster/holder/own-node-facts.ts';
import { createPendingReports } from '../cluster/holder/pending-reports.ts';
import { createDeadInstances } from '../cluster/membership/last-known-instances.ts';
import type { Presence } from '../cluster/membership/presence.ts';
import type { HintEvents, Hints } from '../cluster/messaging/hints.ts';
import { laneOf, type MessageBus } from '../cluster/messaging/message-bus.ts';
import type { NodeReplica } from '../cluster/nodes/node-replica.ts';
import { createFailoverReplay } from '../cluster/recovery/failover-replay.ts';
import { createCertainTakeover, createTakeover } from '../cluster/recovery/takeover.ts';
import { presenceTtlMs } from '../config/nesting.ts';
import type { Config } from '../config/settings.ts';
import type { JobId, NodeId } from '../domain/ids.ts';
import type { JobRecord } from '../domain/job.ts';
import type { AudioAt } from '../domain/job-spec.ts';
import type { PartialText } from '../domain/node-report.ts';
import type { UsageSink } from '../domain/usage.ts';
import type { NodeRegistry } from '../management/node-registry.ts';
import type { Clock } from '../ports/clock.ts';
import type { IdSource } from '../ports/id-source.ts';
import type { TenantOfMessage } from '../ports/inbox.ts';
import type { Living } from '../ports/instances.ts';
import type { Log } from '../ports/log.ts';
import type { Meter } from '../ports/meter.ts';
import type { NodeLink } from '../ports/node-link.ts';
import type { RunningJobService } from '../runtime/create-job-service.ts';
import type { FleetView } from '../runtime/fleet/fleet-view.ts';
import type { TextsOfJobs } from '../runtime/texts-of-jobs.ts';
import type { Rooms } from '../session/rooms/create-rooms.ts';
import type { SessionService } from '../session/session-service.ts';
import type { SharedJobStore, SharedStore } from './shared-store.ts';

/** The parts of this instance that other instances use. They are created later than this. */
export interface LocalParts {
  readonly jobs: () => RunningJobService;
  readonly sessions: () => SessionService;
  readonly rooms: () => Rooms;
  readonly registry: () => NodeRegistry;
  readonly reportMissing: HintEvents['missing'];
  /** Partial text of a job that this instance drives. False: no session waits for the job here. */
  readonly receivePartial: (partial: PartialText) => boolean;
  readonly partialTexts: Pick<TextsOfJobs<PartialText>, 'publish'>;
  readonly fleet: FleetView;
  readonly usage: UsageSink;
  readonly flushUsage: () => Promise<void>;
  /** Where other instances fetch audio that is held here. */
  readonly audioAt: (jobId: JobId) => AudioAt | undefined;
  /** This instance was declared dead: other instances have its nodes. */
  readonly cutAllNodes: () => void;
  /** The node has connected to another instance. */
  readonly cutNode: (nodeId: NodeId) => void;
}

const MAX_PENDING_BYTES = 64 * 1024 * 1024;
const MAX_PENDING = 10_000;

export function createMultiInstanceJobs(deps: {
  readonly config: Config;
  readonly store: SharedStore;
  readonly jobStore: SharedJobStore;
  readonly tenantOf: TenantOfMessage;
  readonly ledger: Pick<SharedStore['ledger'], 'reassert' | 'abandon'>;
  readonly mailbox: SharedStore['mailbox'];
  readonly presence: Presence;
  readonly bus: MessageBus;
  readonly replica: NodeReplica;
  readonly hints: Hints;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly meter: Meter;
  readonly log: Log;
  readonly local: LocalParts;
}) {
  const { store, jobStore, presence, bus, replica, hints, clock, meter, log, local } = deps;
  const { scheduler } = deps.config;
  const { living, isFenced, storeNow, driver } = presence;
  const { driverOf } = jobStore;
  const answerMs = scheduler.ack_timeout_ms;
  const deadInstances = createDeadInstances();

  const driverCache = createDriverCache({ clock, keepMs: scheduler.job_deadline_ms });
  const { generationOf, acknowledges } = createOwnNodeFacts(local.registry);
  const pending = createPendingReports({
    clock,
    log,
    meter,
    holdMs: scheduler.job_deadline_ms,
    maxHeld: MAX_PENDING,
    maxBytes: MAX_PENDING_BYTES,
  });
  const resume = (job: JobRecord): void => local.jobs().resume(job);
  const certainTakeover = createCertainTakeover({
    takeoverStore: jobStore,
    instances: store.instances,
    resume(job, former) {
      resume(job);
      takeover.tookLate(former);
    },
    clock,
    log,
  });
  const { takeOver } = certainTakeover;
  const drivers = createDriverClaims({
    takeoverStore: { takeOver },
    driverOf,
    driver,
    living,
    livingNow: async (instanceId) => (await store.instances.living([instanceId])).get(instanceId),
    isDead: deadInstances.has,
    bus,
    audioAt: local.audioAt,
    audioReturned: (jobId, at) => local.jobs().audioReturned(jobId, at),
    drives: (jobId) => local.jobs().drives(jobId),
    placingResultHere: (jobId) => local.jobs().placingResult(jobId),
    isKnownHere: (jobId) => local.jobs().isHandling(jobId),
    recordOf: (jobId) => Promise.resolve(jobStore.get(jobId)),
    resume,
    placingResultMs: scheduler.pending_timeout_ms,
    clock,
    jobDeadlineMs: scheduler.job_deadline_ms,
    log,
  });
  const takeover = createTakeover({
    self: presence.self,
    living,
    isFenced,
    instances: store.instances,
    inbox: store.inbox,
    takeoverStore: { ...jobStore, takeOver },
    resume,
    tenantOf: deps.tenantOf,
    orphan: store.deadLetters.orphan,
    laneOf,
    receive: bus.receive,
    clock,
    digest: deps.ids.digest,
    turnMs: presenceTtlMs(deps.config) / 2,
    againMs: scheduler.cluster.reclaim_idle_ms,
    log,
    meter,
  });
  const failoverReplay = createFailoverReplay({
    snapshot: (jobIds) => local.jobs().snapshotForReplay(jobIds),
    restore: jobStore.restore,
    countUsage: local.usage.count,
    reassert: deps.ledger.reassert,
    abandon: deps.ledger.abandon,
    release: async (nodeId, lease) => local.jobs().releaseAgain(nodeId, lease),
    clock,
    others(affected) {
      presence.holdOff();
      replica.republish();
      local.registry().redeclare();
      local.sessions().reassert();
      local.rooms().reassert(affected.room);
    },
    log,
    meter,
  });

  const findDriver = createFindDriver({
    drives: (jobId) => local.jobs().drives(jobId),
    driverOf,
    driver,
    living,
    mayBeLost: failoverReplay.mayBeLost,
    replayed: failoverReplay.othersReplayed,
    driverCache,
  });

  return {
    drivers,
    pending,
    mailbox: guardMailbox({ mailbox: deps.mailbox, driver, driverCache }),
    takeover,
    failoverReplay,
    died(instanceIds: readonly string[]): void {
      deadInstances.died(instanceIds);
      takeover.died(instanceIds);
    },
    seen(living: Living): void {
      deadInstances.seen(living);
    },
    /** Sizes of bounded structures without a gauge of their own. */
    backlog: () => ({
      takeovers: certainTakeover.uncertain(),
      audio_offers: drivers.offering(),
      drivers: driverCache.size(),
    }),
    /** The link to the nodes of all instances. */
    link: (to: NodeLink): NodeLink =>
      createSendToHolder({
        bus,
        local: to,
        find: replica.find,
        driver,
        audioAt: local.audioAt,
        storeNow,
        now: clock.now,
        log,
      }),
    /** Forwards reports to the drivers of their jobs. `to`: the link to the nodes of this instance. */
    reports(jobs: RunningJobService, to: NodeLink): ForwardReports {
      const { apply } = createReceiveReports({
        bus,
        local: jobs,
        findDriver,
        passOn: (report) => forwardReports.passOn(report),
        answerMs,
        clock,
      });
      const forwardReports = createForwardReports({
        bus,
        local: jobs,
        apply,
        findDriver,
        driverCache,
        generationOf,
        pending,
        maxResultBytes: scheduler.result_inline_max_bytes,
        answerMs,
      });
      acceptAssignments({
        bus,
        local: to,
        driverCache,
        acknowledges,
        generationOf,
        report: forwardReports.forward,
        living,
        storeNow,
        now: clock.now,
      });
      return forwardReports;
    },
    partialText: createForwardPartialText({
      driverCache,
      findDriver,
      hints,
      drives: (jobId) => local.jobs().drives(jobId),
      receive: local.receivePartial,
    }),
  };
}
