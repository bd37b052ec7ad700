/** Creates the job engine from its parts. */
import type { NodeId } from '../domain/ids.ts';
import { isSettled, type JobRecord } from '../domain/job.ts';
import type { Tenancy } from '../domain/tenancy.ts';
import { createHedging } from './attempts/hedging.ts';
import { createNodeLeaving } from './attempts/leaving-nodes.ts';
import { createNodeLoss } from './attempts/node-loss.ts';
import { createNodeReports } from './attempts/node-reports.ts';
import { createRetryOrFail, type RetryOrFail } from './attempts/retry-or-fail.ts';
import { createSettleJob } from './attempts/settle-job.ts';
import { createTimeouts } from './attempts/timeouts.ts';
import { createTimerWheel } from './attempts/timer-wheel.ts';
import { createUnconfirmedSends } from './attempts/unconfirmed-sends.ts';
import { createAdmission } from './dispatch/admit-job.ts';
import { createDiscardQueue } from './dispatch/discard-queue.ts';
import { createExclusionLog, type ExclusionLog } from './dispatch/exclusion-log.ts';
import { createPlacement } from './dispatch/placement.ts';
import { createRefreshFullNodes } from './dispatch/refresh-full-nodes.ts';
import { placingOf } from './dispatch/repeats.ts';
import { createSlotTimes } from './dispatch/retry-after.ts';
import { createSessionHistory } from './dispatch/session-history.ts';
import {
  type Engine,
  type EnginePorts,
  type EngineSettings,
  type NodeKnowledge,
  releaseForGood,
} from './engine.ts';
import { createExplainer, type Explain } from './explain/create-explainer.ts';
import type { FleetView } from './fleet/fleet-view.ts';
import { createInFlightJobs } from './in-flight-jobs.ts';
import type { JobService, SharedDriving } from './job-service.ts';
import { createPoolWatch } from './pools/pool-watch.ts';
import { createInflightCaps } from './queue/inflight-caps.ts';
import { type Pressure, readPressure } from './queue/read-pressure.ts';
import { createRecentRefusals, noteRefusals } from './queue/recent-refusals.ts';
import { createRetryBudget } from './queue/retry-budget.ts';
import { createServiceRates } from './queue/service-rates.ts';
import { createWaitingQueue } from './queue/waiting-queue.ts';
import { createNodeSpeeds, type NodeSpeeds } from './select/node-speeds.ts';
import { NO_EXCLUSIONS } from './select/select.ts';
import { dropAll } from './takeover/drop-lost-job.ts';
import { createRecentWrites } from './takeover/recent-writes.ts';
import { createResumeJobs } from './takeover/resume-job.ts';
import { snapshotForReplay } from './takeover/snapshot-for-replay.ts';

export interface JobServiceSettings extends EngineSettings {
  readonly retryBudget: { readonly percent: number; readonly burst: number };
  readonly maxWaiting: number;
  readonly maxSessionsRemembered: number;
}

/** Short enough for the shortest configurable timeout, long enough to cost nothing. */
const TICK_MS = 20;
const QUEUE_BACKSTOP_MS = 250;
const MAX_DISCARDS = 10_000;
const MAX_RECENT_WRITES = 10_000;
const MAX_RECENT_BYTES = 64 * 1024 * 1024;

export interface RunningJobService extends JobService, SharedDriving {
  /** What `dispatch` would decide now, without effects. */
  readonly explain: Explain;
  inFlight(): number;
  waiting(): number;
  /** Jobs by language pair and tenant, counted some at a time. */
  pressure(): Generator<void, Pressure>;
  /** How long the oldest waiting job has waited; 0 without any. */
  oldestWaitMs(): number;
  /** For each reason, some of the nodes it excluded last. */
  excluded: ExclusionLog['samples'];
  /** How many tenants have jobs in flight or waiting. */
  tenants(): { readonly inflight: number; readonly waiting: number };
  /** Another instance has learnt how fast a node works. */
  notePace(kindOfWork: string, nodeId: NodeId, pace: number): void;
  stop(): void;
}

export function createJobService(
  deps: EnginePorts & {
    fleet: FleetView;
    nodes: NodeKnowledge;
    tenancy: Tenancy;
    settings: JobServiceSettings;
    /** Absent: learnt from the jobs, if the policy or hedges need them. */
    speeds?: NodeSpeeds | undefined;
    /** Gets what a job here says about the pace of its node, for other instances. */
    paceLearnt?: ((kindOfWork: string, nodeId: NodeId, pace: number) => void) | undefined;
    /** Other instances take slots of the same nodes. Absent: they do if they share the store. */
    hasPeers?: boolean | undefined;
  },
): RunningJobService {
  const { settings, clock, log, tenancy } = deps;
  const caps = tenancy.capsJobs ? createInflightCaps({ tenancy }) : undefined;
  const wheel = createTimerWheel({
    clock,
    tickMs: TICK_MS,
    onFault: (fault) => log.error({ err: fault }, 'a timer failed'),
  });
  const queue = createWaitingQueue({
    clock,
    maxWaiting: settings.maxWaiting,
    backstopMs: QUEUE_BACKSTOP_MS,
    tenants: {
      quantumOf: (tenantId) => tenancy.of(tenantId).quantum,
      maxWaitingOf: (tenantId) => tenancy.share(tenancy.of(tenantId).maxWaiting, settings.maxWaiting),
      isHeld: (tenantId) => caps?.hasRoom(tenantId) === false,
    },
  });
  const learns = settings.policy === 'fastest' || settings.hedge !== undefined;
  const { speeds = learns ? createNodeSpeeds(deps.fleet.numbers, deps.paceLearnt) : undefined } = deps;
  const { hasPeers = deps.drivers !== undefined } = deps;
  const mayLoseWrites = deps.store.restore !== undefined;
  const engine: Engine = {
    ...deps,
    wheel,
    queue,
    serviceRates: createServiceRates(),
    refreshFullNodes:
      deps.drivers && createRefreshFullNodes({ ...deps, wheel, isAnyJobWaiting: () => queue.size() > 0 }),
    caps,
    inFlightJobs: createInFlightJobs(caps, queue.wakeOf, deps.fleet.numbers),
    admitting: new Set(),
    budget: createRetryBudget(settings.retryBudget),
    history: createSessionHistory({
      maxSessions: settings.maxSessionsRemembered,
      keepMs: Math.max(settings.jobDeadlineMs, settings.spreadWindowMs),
    }),
    excluded: createExclusionLog(deps),
    slotTimes: createSlotTimes(),
    speeds,
    poolWatch: createPoolWatch(deps),
    defaultSelection: {
      chance: deps.chance,
      sampleK: settings.sampleK,
      policy: settings.policy,
      foresee: speeds && ((key) => ({ kind: speeds.kind(key), now: clock.now(), hasPeers })),
      excluded: NO_EXCLUSIONS,
      avoid: undefined,
      pools: undefined,
    },
    recentWrites: mayLoseWrites
      ? createRecentWrites({
          clock,
          wheel,
          keepMs: 2 * settings.reservationTtlMs,
          maxCount: MAX_RECENT_WRITES,
          maxBytes: MAX_RECENT_BYTES,
        })
      : undefined,
    drops: 0,
  };

  const refusals = createRecentRefusals({ clock });
  const settleJob = createSettleJob(engine);
  // Timeouts abandon attempts, and abandoning one sends the next: a cycle among the parts.
  let retryOrFail: RetryOrFail;
  const timeouts = createTimeouts(engine, () => retryOrFail);
  const placement = createPlacement(engine, timeouts);
  const hedging = createHedging(engine, { placement, timeouts });
  retryOrFail = createRetryOrFail(engine, placement, settleJob, hedging);
  const unconfirmedSends = createUnconfirmedSends(engine, retryOrFail);
  const resumeJobs = createResumeJobs(engine, { timeouts, retryOrFail, settleJob, unconfirmedSends });
  const discardQueue = createDiscardQueue(engine, { maxPending: MAX_DISCARDS });
  const dispatch = createAdmission(engine, {
    placement,
    timeouts,
    resumeJobs,
    discardQueue,
    unconfirmedSends,
  });
  const nodeReports = createNodeReports(engine, { placement, timeouts, retryOrFail, settleJob, hedging });
  deps.fleet.onLeaving(createNodeLeaving(engine, retryOrFail));
  const nodeLoss = createNodeLoss(engine, retryOrFail, nodeReports.acknowledge);

  // Several slots may become free at once, for instance when a node registers: as many waiters are woken.
  deps.fleet.onFree((nodeId) => {
    const load = deps.fleet.load(nodeId);
    for (let free = (load?.max ?? 0) - (load?.used ?? 0); free > 0 && queue.wake(nodeId); free--) {}
  });

  function claimIfOrphaned(job: JobRecord): void {
    if (
      deps.drivers === undefined ||
      isSettled(job.state) ||
      engine.inFlightJobs.get(job.jobId) !== undefined
    )
      return;
    deps.drivers.claim(job).then(
      (claim) => {
        if (claim.kind === 'ours') resumeJobs.resume(claim.job);
      },
      (fault: unknown) =>
        log.debug(
          { job_id: job.jobId, err: fault },
          'cannot find the driver of a job that a client waits for',
        ),
    );
  }

  return {
    dispatch: noteRefusals(dispatch, refusals),
    explain: createExplainer(engine),
    ...nodeReports,
    ...nodeLoss,
    ...resumeJobs,

    async cancel(jobId, reason, code = 'JOB_CANCELLED') {
      const flight = engine.inFlightJobs.get(jobId);
      if (flight === undefined) {
        const job = await deps.store.get(jobId);
        // A record without outcome and without an in-flight job is still being admitted.
        return { kind: job !== undefined && isSettled(job.state) ? 'settled' : 'unknown_job' };
      }
      const isCancelled = await settleJob.fail(flight, { code, message: reason }, 'open');
      return { kind: isCancelled ? 'cancelled' : 'settled' };
    },

    drain(limitMs) {
      return new Promise((resolve) => {
        const limit = wheel.set(limitMs, () => resolve(engine.inFlightJobs.size()));
        engine.inFlightJobs.onEmpty(() => {
          limit.cancel();
          resolve(0);
        });
      });
    },

    drives: (jobId) => engine.inFlightJobs.get(jobId) !== undefined,
    isHandling: (jobId) =>
      engine.inFlightJobs.get(jobId) !== undefined ||
      engine.admitting.has(jobId) ||
      discardQueue.isWithdrawn(jobId),
    claimIfOrphaned,
    async placingResult(jobId) {
      const flight = engine.inFlightJobs.get(jobId);
      if (flight === undefined) return undefined;
      const outcome = await placingOf(flight);
      return outcome.kind === 'refused' ? outcome : { kind: 'placed' };
    },
    dropAll: () => dropAll(engine),
    snapshotForReplay: (jobIds) => snapshotForReplay(engine, jobIds),
    releaseAgain: (nodeId, lease) => releaseForGood(engine, nodeId, lease),

    inFlight: () => engine.inFlightJobs.size(),
    waiting: () => queue.size(),
    pressure: () => readPressure(engine, refusals),
    oldestWaitMs() {
      let oldest = clock.now();
      for (const [first] of queue.lines()) oldest = Math.min(oldest, first?.since ?? oldest);
      return clock.now() - oldest;
    },
    excluded: engine.excluded.samples,
    tenants: () => ({ inflight: caps?.tenants() ?? 0, waiting: queue.tenants() }),
    notePace: (kindOfWork, nodeId, pace) => speeds?.heard(kindOfWork, nodeId, pace, clock.now()),
    stop() {
      wheel.stop();
      queue.stop();
    },
  };
}
