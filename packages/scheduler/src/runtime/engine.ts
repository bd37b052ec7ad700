/** Hot path: what the parts of the job engine share (ports, settings, in-flight jobs), and the only function that moves a job. */
import type { JobId, NodeId } from '../domain/ids.ts';
import {
  type Attempt,
  type JobEvent,
  type JobRecord,
  type JobState,
  nextState,
  type TimelineEntry,
} from '../domain/job.ts';
import { changeJob } from '../domain/job-change.ts';
import type { JobResult } from '../domain/job-spec.ts';
import type { Need } from '../domain/need.ts';
import type { EarlyText } from '../domain/node-report.ts';
import type { NodeProfile } from '../domain/profile.ts';
import type { Tenancy } from '../domain/tenancy.ts';
import type { JobUsage } from '../domain/usage.ts';
import type { MaybePromise } from '../domain/with-timeout.ts';
import type { AudioStore } from '../ports/audio-store.ts';
import type { CapacityLedger, ReleaseResult } from '../ports/capacity-ledger.ts';
import type { Chance } from '../ports/chance.ts';
import type { Clock } from '../ports/clock.ts';
import type { IdSource } from '../ports/id-source.ts';
import type { JobEvents } from '../ports/job-events.ts';
import type { JobStore } from '../ports/job-store.ts';
import type { Log } from '../ports/log.ts';
import type { Meter } from '../ports/meter.ts';
import type { NodeLink } from '../ports/node-link.ts';
import type { SlowWatch } from '../ports/slow-watch.ts';
import type { HedgeSettings } from './attempts/hedging.ts';
import { applyMove, applyMoveLater } from './attempts/record-move.ts';
import type { TimerWheel } from './attempts/timer-wheel.ts';
import type { ExclusionLog } from './dispatch/exclusion-log.ts';
import type { RefreshFullNodes } from './dispatch/refresh-full-nodes.ts';
import type { SlotTimes } from './dispatch/retry-after.ts';
import type { SessionHistory } from './dispatch/session-history.ts';
import type { FleetView } from './fleet/fleet-view.ts';
import type { InFlightJob } from './in-flight-job.ts';
import type { InFlightJobs } from './in-flight-jobs.ts';
import type { InflightCaps } from './queue/inflight-caps.ts';
import type { RetryBudget } from './queue/retry-budget.ts';
import type { ServiceRates } from './queue/service-rates.ts';
import type { WaitingQueue } from './queue/waiting-queue.ts';
import type { NodeSpeeds } from './select/node-speeds.ts';
import type { PolicyName } from './select/policies.ts';
import type { PoolWatch, SelectOptions } from './select/select.ts';
import type { JobDrivers } from './takeover/job-drivers.ts';
import type { RecentWrites } from './takeover/recent-writes.ts';

export interface EngineSettings {
  readonly ackTimeoutMs: number;
  readonly reservationTtlMs: number;
  readonly jobTimeoutMs: number;
  readonly jobDeadlineMs: number;
  readonly pendingTimeoutMs: number;
  /** Jobs that would probably get their slot too late are refused at once. */
  readonly refusesLate: boolean;
  /** How long after the start a job waits for a capable node to register, if its request allows waiting. */
  readonly fleetWarmupMs: number;
  /** How much longer than the job timeout a committed lease lasts. */
  readonly leaseGraceMs: number;
  /** Length of the lease of an abandoned attempt that its node should have acknowledged and did not. */
  readonly abandonedLeaseMs: number;
  /** `durability = "replica"`: writes wait for a replica, but fetches from mailboxes do not. */
  readonly isReplicaAwaited: boolean;
  /** A node gets a cancel when its job times out. */
  readonly cancelsTimedOut: boolean;
  readonly maxRetry: number;
  readonly sampleK: number;
  readonly policy: PolicyName;
  /** Absent: no job gets a hedge. */
  readonly hedge?: HedgeSettings | undefined;
  readonly isSpreadEnabled: boolean;
  readonly spreadWindowMs: number;
}

/** What the engine reads about nodes besides the fleet view, and what it reports about them. */
export interface NodeKnowledge {
  profile(nodeId: NodeId): NodeProfile | undefined;
  /** An attempt was placed on the node: an ejected node on probation gets one at a time. */
  placed(nodeId: NodeId, need: Need): void;
  /** `unproven`: the attempt ended and proves nothing about the node. */
  outcome(nodeId: NodeId, outcome: 'succeeded' | 'failed' | 'unproven', need: Need): void;
  /** Must return at once: it is called during a dispatch. */
  modelNotAvailable(nodeId: NodeId, details: Readonly<Record<string, unknown>>): void;
}

export interface EnginePorts {
  readonly clock: Clock;
  readonly chance: Chance;
  readonly ids: IdSource;
  readonly ledger: CapacityLedger;
  readonly store: JobStore;
  readonly events: JobEvents;
  readonly audio: AudioStore;
  readonly link: NodeLink;
  readonly meter: Meter;
  readonly log: Log;
  /** Absent: no other instance shares the store. */
  readonly drivers?: JobDrivers | undefined;
  /** False: Redis is or was just unavailable, so reports of nodes may be delayed. Absent: the store is always available. */
  readonly isStoreSteady?: (() => boolean) | undefined;
  /** Gets texts of the current attempt of a job that are final before the job is done. Absent: nothing waits for them. */
  readonly told?: ((jobId: JobId, text: EarlyText) => void) | undefined;
  /** Absent: slow paths are not recorded. */
  readonly slow?: SlowWatch | undefined;
}

export interface Engine extends EnginePorts {
  readonly settings: EngineSettings;
  readonly fleet: FleetView;
  readonly nodes: NodeKnowledge;
  readonly inFlightJobs: InFlightJobs;
  /** Jobs whose first record is being written. */
  readonly admitting: Set<JobId>;
  readonly wheel: TimerWheel;
  readonly queue: WaitingQueue;
  readonly serviceRates: ServiceRates;
  /** Absent: no other instance takes slots, so the loads in the view are exact. */
  readonly refreshFullNodes: RefreshFullNodes | undefined;
  readonly tenancy: Tenancy;
  /** Absent: no tenant has a cap on its jobs. */
  readonly caps: InflightCaps | undefined;
  readonly budget: RetryBudget;
  readonly history: SessionHistory;
  readonly excluded: ExclusionLog;
  readonly slotTimes: SlotTimes;
  /** Absent: neither the policy nor hedges need them. */
  readonly speeds: NodeSpeeds | undefined;
  readonly poolWatch: PoolWatch;
  /** Options for a job that excludes no node. */
  readonly defaultSelection: SelectOptions;
  /** Absent: the store and the ledger lose no writes. */
  readonly recentWrites: RecentWrites | undefined;
  /** How often all jobs were dropped: calls that began before a drop are not repeated. */
  drops: number;
}

/** Whether the node acknowledges jobs. A legacy node does not, and neither does an unknown one. */
export const acknowledgesJobs = ({ nodes }: Engine, nodeId: NodeId): boolean =>
  nodes.profile(nodeId)?.supports.includes('job_ack') === true;

/** What a move changes besides the state. */
export interface Step {
  readonly fence?: Attempt;
  readonly intent?: Attempt | null;
  readonly reason?: string;
  readonly failure?: { readonly code: string; readonly message: string };
  readonly result?: JobResult;
  /** What the result has used. */
  readonly usage?: JobUsage;
  /** Events that happened before this one and are written with it: a result that was never acknowledged, for example. */
  readonly via?: readonly JobEvent[];
  /** When the event happened. Absent: now. */
  readonly at?: number | undefined;
}

/**
 * Moves a job by one event of the state table and writes its record, together with a DISPATCHED that is not written yet. `false`: the
 * record was not in the expected state; `flight.job` is then the record as it is. A failed write is repeated until the store answers,
 * and moves that the store has lost are written again.
 */
export function advance(
  engine: Engine,
  flight: InFlightJob,
  event: JobEvent,
  step: Step = {},
): MaybePromise<boolean> {
  if (flight.driving !== 'ours') return false;
  const { job, written } = flight;
  const at = step.at === undefined ? engine.clock.now() : Math.floor(step.at);
  const { nodeId, attempt } = step.fence ?? step.intent ?? job.fence ?? NO_ATTEMPT;
  const passing = step.via === undefined ? undefined : passThrough(job.state, step.via, at, attempt, nodeId);
  const before = passing === undefined ? job.state : passing.at(-1)?.state;
  const state = before === undefined ? undefined : nextState(before, event);
  if (state === undefined) return false;
  const base = written ?? job;
  const expected = { state: base.state, fenceAttempt: base.fence?.attempt ?? 0 };
  const change = {
    state,
    entry:
      step.reason === undefined
        ? { state, at, attempt, nodeId }
        : { state, at, attempt, nodeId, reason: step.reason },
    passing: written === undefined ? passing : withDispatched(job, passing),
    fence: written === undefined ? step.fence : (step.fence ?? job.fence),
    intent: written === undefined ? step.intent : (step.intent ?? null),
    failure: step.failure,
    result: step.result,
    usage: step.usage,
  };
  const moving = engine.store.move(job.jobId, expected, change);
  return moving instanceof Promise
    ? applyMoveLater(engine, flight, expected, change, moving)
    : applyMove(engine, flight, expected, change, moving);
}

/**
 * DISPATCHED of an attempt of which a report follows soon: known here at once, and written with that report. Until then other instances
 * read RESERVED with its intent, which a takeover treats as "may have been sent". `false`: the job is in another state.
 */
export function dispatchUnwritten(engine: Engine, flight: InFlightJob, fence: Attempt, at: number): boolean {
  const { job, driving } = flight;
  if (driving !== 'ours' || nextState(job.state, 'dispatched') !== 'DISPATCHED') return false;
  const { nodeId, attempt } = fence;
  const entry = { state: 'DISPATCHED', at: Math.floor(at), attempt, nodeId } as const;
  flight.written = job;
  flight.job = changeJob(job, { state: 'DISPATCHED', fence, intent: null, entry });
  // For a legacy node DISPATCHED is published when the holder has reported the hand-over, and it is written.
  if (flight.doesAcknowledge) engine.events.publish(flight.job);
  return true;
}

/** Writes a DISPATCHED that `dispatchUnwritten` made, without waiting for the job's next move. */
export function writeDispatched(engine: Engine, flight: InFlightJob): MaybePromise<boolean> {
  const { job, written } = flight;
  const entry = job.timeline.at(-1);
  if (flight.driving !== 'ours' || written === undefined || entry === undefined) return false;
  const expected = { state: written.state, fenceAttempt: written.fence?.attempt ?? 0 };
  const change = { state: job.state, entry, fence: job.fence, intent: null };
  const moving = engine.store.move(job.jobId, expected, change);
  return moving instanceof Promise
    ? applyMoveLater(engine, flight, expected, change, moving)
    : applyMove(engine, flight, expected, change, moving);
}

/** The unwritten DISPATCHED is the last entry of its job's timeline. */
function withDispatched({ timeline }: JobRecord, passing: readonly TimelineEntry[] = []): TimelineEntry[] {
  return [...timeline.slice(-1), ...passing];
}

/** The states on the way, none of which is written by itself. Empty: the state table does not allow them. */
function passThrough(
  from: JobState,
  via: readonly JobEvent[],
  at: number,
  attempt: number,
  nodeId: NodeId | undefined,
): TimelineEntry[] | undefined {
  if (via.length === 0) return undefined;
  const passing = new Array<TimelineEntry>(via.length);
  let state = from;
  for (let step = 0; step < via.length; step++) {
    const next = nextState(state, via[step] as JobEvent);
    if (next === undefined) return [];
    state = next;
    passing[step] = { state, at, attempt, nodeId };
  }
  return passing;
}

const RELEASE_AGAIN_MS = 1_000;
const NO_ATTEMPT = { nodeId: undefined, attempt: 0 };

/** Releases a lease and corrects the view with the reply. Never fails: a lease that is not released expires. */
export const releaseLease = (engine: Engine, nodeId: NodeId, lease: string): MaybePromise<void> =>
  release(engine, nodeId, lease, (fault) =>
    engine.log.warn({ node_id: nodeId, lease, err: fault }, 'cannot release a lease; it will expire'),
  );

/**
 * Releases the lease of an attempt that has ended, and repeats a failed call: otherwise the slot would be missing until the lease
 * ends, which can take longer than a minute. The lease id is never used again, so a repeated release is safe.
 */
export function releaseForGood(engine: Engine, nodeId: NodeId, lease: string): MaybePromise<void> {
  const { jobTimeoutMs, leaseGraceMs } = engine.settings;
  const endsAt = engine.clock.now() + jobTimeoutMs + leaseGraceMs;
  engine.recentWrites?.released(nodeId, lease);
  const tryAgain = (): void => {
    if (engine.clock.now() >= endsAt) return;
    engine.wheel.set(RELEASE_AGAIN_MS, () => void release(engine, nodeId, lease, tryAgain));
  };
  return release(engine, nodeId, lease, (fault) => {
    engine.log.warn({ node_id: nodeId, lease, err: fault }, 'cannot release a lease; trying again');
    tryAgain();
  });
}

function release(
  engine: Engine,
  nodeId: NodeId,
  lease: string,
  failed: (fault: unknown) => void,
): MaybePromise<void> {
  const releasing = engine.ledger.release(nodeId, lease);
  if (!(releasing instanceof Promise)) return noteReleased(engine, nodeId, releasing);
  return releasing.then((released) => noteReleased(engine, nodeId, released), failed);
}

function noteReleased(engine: Engine, nodeId: NodeId, released: ReleaseResult): void {
  if (released.kind !== 'unknown_node') engine.fleet.setLoad(nodeId, released);
}

/**
 * Marks the lease of an attempt that was abandoned while its node may still work on it. The slot stays taken until a report of the
 * node omits the job, or until the lease ends: after `endsInMs` at the latest, if given.
 */
export async function abandonLease(
  engine: Engine,
  nodeId: NodeId,
  lease: string,
  endsInMs?: number,
  until = engine.clock.now() + engine.settings.jobTimeoutMs + engine.settings.leaseGraceMs,
): Promise<void> {
  const endsAt = endsInMs === undefined ? undefined : engine.clock.now() + endsInMs;
  engine.recentWrites?.abandoned(nodeId, lease, endsAt);
  try {
    await engine.ledger.abandon(nodeId, lease, endsInMs);
  } catch (fault) {
    engine.log.warn({ node_id: nodeId, lease, err: fault }, 'cannot mark a lease as abandoned; trying again');
    // Without the mark no report of the node frees the slot, so it would stay taken until the lease ends.
    if (engine.clock.now() + ABANDON_AGAIN_MS < until)
      engine.wheel.set(ABANDON_AGAIN_MS, () => void abandonAgain(engine, nodeId, lease, endsAt, until));
  }
}

const abandonAgain = (
  engine: Engine,
  nodeId: NodeId,
  lease: string,
  endsAt: number | undefined,
  until: number,
): Promise<void> =>
  abandonLease(
    engine,
    nodeId,
    lease,
    endsAt === undefined ? undefined : Math.max(0, endsAt - engine.clock.now()),
    until,
  );

const ABANDON_AGAIN_MS = 1_000;
