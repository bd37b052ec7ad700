/** Hot path: a job between acceptance and outcome, and the index of all of them. */
import type { JobId, NodeId } from '../domain/ids.ts';
import type { JobRecord } from '../domain/job.ts';
import type { JobResult } from '../domain/job-spec.ts';
import type { Need } from '../domain/need.ts';
import type { DispatchOutcome } from './job-service.ts';
import type { CompiledNeed } from './select/compile-need.ts';
import type { Timer } from './timer-wheel.ts';

export interface Flight {
  /** The newest record we know of. */
  job: JobRecord;
  readonly need: Need;
  readonly compiled: CompiledNeed;
  /** Nodes that were sent the job: excluded for good, they refuse what they have seen. */
  readonly sentTo: Set<NodeId>;
  /** Highest attempt number used so far. */
  attempts: number;
  /** Retries that count against max_retry. */
  retries: number;
  /** Nodes lost by disconnect while they had the job. */
  nodesLost: number;
  /** Of the attempt that is out: acknowledgement, then job timeout. */
  attemptTimer: Timer | undefined;
  deadlineTimer: Timer | undefined;
  /** When the attempt that is out was sent. */
  sentAt: number;
  /** Why the last attempt ended; the job's failure if no other succeeds. */
  lastFailure: { code: string; message: string } | undefined;
  /** A result worth having if no better one comes. */
  fallback: JobResult | undefined;
  /** What the first placement came to; repeats of the request share it. */
  placing: Promise<DispatchOutcome> | undefined;
  /** Ends its wait for a slot, if it waits. */
  stopWaiting: (() => void) | undefined;
}

export function createFlight(job: JobRecord, need: Need, compiled: CompiledNeed): Flight {
  return {
    job,
    need,
    compiled,
    sentTo: new Set(),
    attempts: 0,
    retries: 0,
    nodesLost: 0,
    attemptTimer: undefined,
    deadlineTimer: undefined,
    sentAt: 0,
    lastFailure: undefined,
    fallback: undefined,
    placing: undefined,
    stopWaiting: undefined,
  };
}

export interface Flights {
  add(flight: Flight): void;
  get(jobId: JobId): Flight | undefined;
  remove(flight: Flight): void;
  /** The node holds the flight's fence from now on. */
  board(flight: Flight, nodeId: NodeId): void;
  leave(flight: Flight, nodeId: NodeId): void;
  /** Those whose fence the node holds; a copy, safe to walk while they move. */
  on(nodeId: NodeId): Flight[];
  size(): number;
}

const NOBODY: Flight[] = [];

export function createFlights(): Flights {
  const byJob = new Map<JobId, Flight>();
  const byNode = new Map<NodeId, Set<Flight>>();

  function leave(flight: Flight, nodeId: NodeId): void {
    const aboard = byNode.get(nodeId);
    if (aboard?.delete(flight) === true && aboard.size === 0) byNode.delete(nodeId);
  }

  return {
    add: (flight) => byJob.set(flight.job.jobId, flight),
    get: (jobId) => byJob.get(jobId),
    remove(flight) {
      byJob.delete(flight.job.jobId);
      if (flight.job.fence !== undefined) leave(flight, flight.job.fence.nodeId);
    },
    board(flight, nodeId) {
      const aboard = byNode.get(nodeId);
      if (aboard === undefined) byNode.set(nodeId, new Set([flight]));
      else aboard.add(flight);
    },
    leave,
    on(nodeId) {
      const aboard = byNode.get(nodeId);
      return aboard === undefined ? NOBODY : [...aboard];
    },
    size: () => byJob.size,
  };
}
