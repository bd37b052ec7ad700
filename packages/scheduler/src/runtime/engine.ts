/** Hot path: what the parts of the job engine share — ports, settings, flights — and the one way a job moves. */
import type { NodeId } from '../domain/ids.ts';
import { type Attempt, type JobEvent, type JobRecord, nextState, type TimelineEntry } from '../domain/job.ts';
import type { JobResult } from '../domain/job-spec.ts';
import type { NodeProfile } from '../domain/profile.ts';
import type { Soon } from '../domain/soon.ts';
import type { AudioStore } from '../ports/audio-store.ts';
import type { CapacityLedger, ReleaseResult } from '../ports/capacity-ledger.ts';
import type { Chance } from '../ports/chance.ts';
import type { Clock } from '../ports/clock.ts';
import type { IdSource } from '../ports/id-source.ts';
import type { JobEvents } from '../ports/job-events.ts';
import type { Expected, JobChange, JobStore, MoveResult } from '../ports/job-store.ts';
import type { Log } from '../ports/log.ts';
import type { Meter } from '../ports/meter.ts';
import type { NodeLink } from '../ports/node-link.ts';
import type { FleetView } from './fleet/fleet-view.ts';
import type { Flight, Flights } from './flight.ts';
import type { RetryBudget } from './retry-budget.ts';
import type { SessionHistory } from './session-history.ts';
import type { TimerWheel } from './timer-wheel.ts';
import type { WaitingQueue } from './waiting-queue.ts';

export interface EngineSettings {
  readonly ackTimeoutMs: number;
  readonly reservationTtlMs: number;
  readonly jobTimeoutMs: number;
  readonly jobDeadlineMs: number;
  readonly pendingTimeoutMs: number;
  /** How long after the start a job that may wait does so even if no node can do it. */
  readonly fleetWarmupMs: number;
  /** What a running lease lasts beyond the job timeout. */
  readonly leaseGraceMs: number;
  readonly maxRetry: number;
  readonly sampleK: number;
  readonly policy: 'weighted_random' | 'least_loaded';
  readonly isSpreadEnabled: boolean;
  readonly spreadWindowMs: number;
}

/** What the engine must know of nodes beyond the fleet view, and tells of them. */
export interface NodeKnowledge {
  profile(nodeId: NodeId): NodeProfile | undefined;
  /** An attempt was placed there: an ejected node on probation gets one at a time. */
  placed(nodeId: NodeId): void;
  outcome(nodeId: NodeId, outcome: 'succeeded' | 'failed'): void;
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
}

export interface Engine extends EnginePorts {
  readonly settings: EngineSettings;
  readonly fleet: FleetView;
  readonly nodes: NodeKnowledge;
  readonly flights: Flights;
  readonly wheel: TimerWheel;
  readonly queue: WaitingQueue;
  readonly budget: RetryBudget;
  readonly history: SessionHistory;
}

/** What besides the state changes in a move. */
export interface Step {
  readonly fence?: Attempt;
  readonly intent?: Attempt | null;
  readonly reason?: string;
  readonly failure?: { readonly code: string; readonly message: string };
  readonly result?: JobResult;
  /** The event that is implied before this one: an answer that was never acknowledged, say. */
  readonly via?: JobEvent;
}

/**
 * Moves a job by one event of the state table, if nobody else moved it first. `false`: it is not, or no longer, where the
 * caller thought; the flight then holds the record as it is. A store that fails is asked until it answers.
 */
export function advance(engine: Engine, flight: Flight, event: JobEvent, step: Step = {}): Soon<boolean> {
  const { job } = flight;
  const before = step.via === undefined ? job.state : nextState(job.state, step.via);
  const state = before === undefined ? undefined : nextState(before, event);
  if (before === undefined || state === undefined) return false;
  const at = engine.clock.now();
  const { nodeId, attempt } = step.fence ?? step.intent ?? job.fence ?? NO_ATTEMPT;
  const expected = { state: job.state, fenceAttempt: job.fence?.attempt ?? 0 };
  const change = {
    state,
    entry: { state, at, attempt, nodeId, reason: step.reason },
    passing: step.via === undefined ? undefined : { state: before, at, attempt, nodeId, reason: undefined },
    fence: step.fence,
    intent: step.intent,
    failure: step.failure,
    result: step.result,
  };
  const moving = engine.store.move(job.jobId, expected, change);
  if (!(moving instanceof Promise)) return take(engine, flight, moving);
  return moving.then(
    (moved) => take(engine, flight, moved),
    (fault: unknown) => askAgain(engine, flight, expected, change, fault),
  );
}

function take(engine: Engine, flight: Flight, moved: MoveResult): boolean {
  if (moved.kind === 'unknown_job' || moved.kind === 'driven_elsewhere') {
    flight.isLost = true;
    return false;
  }
  flight.job = moved.job;
  if (moved.kind !== 'moved') return false;
  engine.events.publish(moved.job);
  return true;
}

/** A store that fails leaves it open whether it wrote: asked again until it says. */
async function askAgain(
  engine: Engine,
  flight: Flight,
  expected: Expected,
  change: JobChange,
  fault: unknown,
): Promise<boolean> {
  const { jobId } = flight.job;
  for (let last = fault; ; ) {
    engine.log.error(
      { job_id: jobId, state: change.state, err: last },
      'the store did not answer a job move',
    );
    await new Promise<void>((resolve) => engine.wheel.set(ASK_AGAIN_MS, resolve));
    try {
      const moved = await engine.store.move(jobId, expected, change);
      const isOurs = moved.kind === 'stale' && hasEntry(moved.job, change.entry);
      return take(engine, flight, isOurs ? { kind: 'moved', job: moved.job } : moved);
    } catch (again) {
      last = again;
    }
  }
}

const ASK_AGAIN_MS = 250;

/** The first try wrote it after all: nobody else makes the same entry. */
function hasEntry({ timeline }: JobRecord, entry: TimelineEntry): boolean {
  const last = timeline.at(-1);
  return (
    last?.state === entry.state &&
    last.at === entry.at &&
    last.attempt === entry.attempt &&
    last.nodeId === entry.nodeId
  );
}

const NO_ATTEMPT = { nodeId: undefined, attempt: 0 };

/** Gives a slot back and corrects the view with the answer. Never fails: a lease that is not given back expires. */
export function giveBack(engine: Engine, nodeId: NodeId, lease: string): Soon<void> {
  const releasing = engine.ledger.release(nodeId, lease);
  if (!(releasing instanceof Promise)) return noteReleased(engine, nodeId, releasing);
  return releasing.then(
    (released) => noteReleased(engine, nodeId, released),
    (fault: unknown) =>
      engine.log.warn(
        { node_id: nodeId, lease, err: fault },
        'a slot could not be given back; its lease will expire',
      ),
  );
}

function noteReleased(engine: Engine, nodeId: NodeId, released: ReleaseResult): void {
  if (released.kind !== 'unknown_node') engine.fleet.setLoad(nodeId, released);
}

/** The node may still work on a given-up attempt: its slot stays taken until it is proven free. */
export async function leaveFenced(engine: Engine, nodeId: NodeId, lease: string): Promise<void> {
  try {
    await engine.ledger.fence(nodeId, lease);
  } catch (fault) {
    engine.log.warn({ node_id: nodeId, lease, err: fault }, 'a lease could not be fenced; it will expire');
  }
}
