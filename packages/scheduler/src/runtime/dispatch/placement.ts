/** Hot path: reserves a slot, records the intent and sends the job, candidate by candidate, until a node has it. */
import { isUnsent } from '../../domain/errors.ts';
import type { NodeId } from '../../domain/ids.ts';
import { type Attempt, holdsFence, isMeantFor } from '../../domain/job.ts';
import { leaseId } from '../../domain/lease.ts';
import type { MaybePromise } from '../../domain/with-timeout.ts';
import type { ReserveResult } from '../../ports/capacity-ledger.ts';
import type { Assignment, Delivery } from '../../ports/node-link.ts';
import { watchLeaseEnd } from '../attempts/lease-expiry.ts';
import { abandonPrevious, cancelOvertaken } from '../attempts/superseded-leases.ts';
import { acknowledgesJobs, advance, dispatchUnwritten, type Engine, releaseLease } from '../engine.ts';
import {
  attemptFields,
  hasReleased,
  type InFlightJob,
  isDropped,
  isDue,
  isFirstSend,
  noteDelivered,
  noteSendStarted,
  noteSent,
  noteUnsent,
  type Sends,
  sendsOf,
  skipNode,
  UNSENT,
} from '../in-flight-job.ts';
import { failures } from '../select/explain.ts';
import type { Selection } from '../select/select.ts';
import { noteStage, RESERVE, SELECT, SEND } from './stage-times.ts';
import { createTryCandidates } from './try-candidates.ts';

/**
 * `sent`: a node was sent the job. `no_node`: no node has it. `overtaken`: a report, a cancel or another instance decided about the job
 * meanwhile.
 */
export type PlacementResult = 'sent' | 'no_node' | 'overtaken';

export interface Placement {
  /**
   * Never rejects; `false` also if the ledger did not answer, and then the lease is released to be safe. `since`: when the choice
   * of this node began. `isFirst`: the first reserve of a new job.
   */
  reserve(nodeId: NodeId, lease: string, since: number, isFirst: boolean): MaybePromise<boolean>;
  /** Tries the candidates in order. */
  place(flight: InFlightJob, selection: Selection): Promise<PlacementResult>;
  /** Sends to this node, where a slot is reserved and recorded. `no_node`: the node does not have the job. */
  send(flight: InFlightJob, nodeId: NodeId, attempt: number): MaybePromise<PlacementResult>;
  /** The job was sent: its attempt becomes the fence. Safe to repeat: a report may arrive before the delivery's reply. */
  recordSent(
    flight: InFlightJob,
    nodeId: NodeId,
    attempt: number,
    at?: number,
  ): MaybePromise<PlacementResult>;
}

export function createPlacement(engine: Engine, on: { attemptSent(flight: InFlightJob): void }): Placement {
  const { ledger, fleet, link, settings, clock } = engine;

  function reserve(nodeId: NodeId, lease: string, since: number, isFirst: boolean): MaybePromise<boolean> {
    const requestedAt = clock.precise();
    noteStage(engine, SELECT, requestedAt - since);
    const reserving = ledger.reserve(nodeId, lease, settings.reservationTtlMs);
    return reserving instanceof Promise
      ? afterReserveLater(nodeId, lease, reserving, requestedAt, isFirst)
      : afterReserve(nodeId, reserving, requestedAt, isFirst);
  }

  // Asynchronous paths are separate functions: closures allocated inside this one would cost every synchronous call.
  function afterReserveLater(
    nodeId: NodeId,
    lease: string,
    reserving: Promise<ReserveResult>,
    requestedAt: number,
    isFirst: boolean,
  ): Promise<boolean> {
    return reserving.then(
      (answer) => afterReserve(nodeId, answer, requestedAt, isFirst),
      (fault: unknown) => {
        engine.log.warn({ node_id: nodeId, lease, err: fault }, 'a reserve failed; it may have taken a slot');
        noteReserve(UNKNOWN, requestedAt, isFirst);
        // Not awaited: a ledger that does not answer would delay the next candidate.
        if (!isUnsent(fault)) void releaseLease(engine, nodeId, lease);
        return false;
      },
    );
  }

  function afterReserve(
    nodeId: NodeId,
    answer: ReserveResult,
    requestedAt: number,
    isFirst: boolean,
  ): boolean {
    const isTaken = answer.kind === 'reserved' || answer.kind === 'already';
    noteReserve(isTaken ? TAKEN : REFUSED, requestedAt, isFirst);
    if ('used' in answer) fleet.setLoad(nodeId, answer);
    return isTaken;
  }

  function noteReserve(result: typeof TAKEN, requestedAt: number, isFirst: boolean): void {
    noteStage(engine, RESERVE, clock.precise() - requestedAt);
    engine.meter.count('scheduler_reserve_attempt_total', result);
    if (isFirst) engine.meter.count('scheduler_reserve_first_try_total', result);
  }

  /** Records DISPATCHED if the record's intent still names this node. A concurrent second caller waits for the first write. */
  function recordSent(
    flight: InFlightJob,
    nodeId: NodeId,
    attempt: number,
    at?: number,
  ): MaybePromise<PlacementResult> {
    const { recording } = flight;
    if (recording !== undefined) {
      return recording.then(() => (holdsFence(flight.job, nodeId, attempt) ? 'sent' : 'overtaken'));
    }
    const before = flight.job.fence;
    const { intent } = flight.job;
    const isIntended = intent !== undefined && intent.nodeId === nodeId && intent.attempt === attempt;
    const fence = isIntended ? intent : { nodeId, attempt };
    flight.doesAcknowledge = acknowledgesJobs(engine, nodeId);
    if (isWrittenLater(flight, nodeId)) {
      return dispatchUnwritten(engine, flight, fence, at ?? clock.now())
        ? markSent(flight, nodeId, before)
        : cancelOvertaken(engine, flight, nodeId, attempt);
    }
    const moving = advance(engine, flight, 'dispatched', { fence, intent: null, at });
    if (moving instanceof Promise) return recordLater(flight, nodeId, attempt, before, moving);
    return moving ? markSent(flight, nodeId, before) : cancelOvertaken(engine, flight, nodeId, attempt);
  }

  /**
   * DISPATCHED is written with the report that follows soon: the acknowledgement, or the holder's report that a legacy node has the job.
   * A legacy node of this instance may report nothing until its result, so for it DISPATCHED is written at once. While another move is
   * being written, only the store decides which of the two is first.
   */
  const isWrittenLater = (flight: InFlightJob, nodeId: NodeId): boolean =>
    engine.drivers !== undefined &&
    flight.writes === 0 &&
    (flight.path.awaitsHolder || acknowledgesJobs(engine, nodeId));

  function recordLater(
    flight: InFlightJob,
    nodeId: NodeId,
    attempt: number,
    before: Attempt | undefined,
    moving: Promise<boolean>,
  ): Promise<PlacementResult> {
    const goOn = (hasMoved: boolean): MaybePromise<PlacementResult> => {
      flight.recording = undefined;
      return hasMoved ? markSent(flight, nodeId, before) : cancelOvertaken(engine, flight, nodeId, attempt);
    };
    const placed = moving.then(goOn, (fault: unknown) => {
      flight.recording = undefined;
      throw fault;
    });
    // After `goOn` was attached, so that it runs before the callers that wait.
    flight.recording = moving;
    return placed;
  }

  /** Synchronous for a first attempt. */
  function markSent(
    flight: InFlightJob,
    nodeId: NodeId,
    before: Attempt | undefined,
  ): MaybePromise<PlacementResult> {
    const profile = engine.nodes.profile(nodeId);
    if (settings.isSpreadEnabled || profile?.isLegacy === true) {
      engine.history.note(flight.job.sessionId, nodeId, flight.job.spec.utteranceIndex, flight.sentAt);
    }
    engine.inFlightJobs.setNode(flight, nodeId);
    on.attemptSent(flight);
    if (before === undefined && isFirstSend(flight)) {
      const { preferredNodeId } = flight.compiled.need;
      if (preferredNodeId !== undefined && preferredNodeId !== nodeId) logFallback(flight, preferredNodeId);
      return 'sent';
    }
    return abandonPrevious(engine, flight, nodeId, before);
  }

  function logFallback({ job, compiled }: InFlightJob, preferred: NodeId): void {
    const [reason = 'reserve_refused'] = failures(fleet, compiled, preferred) ?? ['not_registered'];
    const fields = { ...attemptFields(job, reason), preferred_node_id: preferred };
    engine.log.info(fields, 'a job did not get its preferred node');
  }

  function send(flight: InFlightJob, nodeId: NodeId, attempt: number): MaybePromise<PlacementResult> {
    if (!isDue(flight, nodeId, attempt)) return unneeded(flight, nodeId, attempt);
    const now = clock.precise();
    // Before the delivery: a report may arrive before its reply, and the node may be lost meanwhile.
    const previous = flight.attempts === 0 ? UNSENT : sendsOf(flight);
    flight.attempts = attempt;
    flight.sentAt = now;
    noteSendStarted(flight);
    // An earlier disconnect does not concern the connection that is used now.
    flight.leftDuringSend = undefined;
    noteSent(flight, nodeId);
    engine.inFlightJobs.setNode(flight, nodeId);
    let delivering: MaybePromise<Delivery>;
    try {
      const expiresAt = Math.floor(now) + settings.ackTimeoutMs;
      delivering = link.deliver(assignmentOf(flight, nodeId, attempt, expiresAt));
    } catch (fault) {
      delivering = failed(flight, nodeId, fault);
    }
    return delivering instanceof Promise
      ? deliveredLater(flight, nodeId, attempt, delivering, previous)
      : delivered(flight, nodeId, attempt, delivering, previous);
  }

  function failed({ job }: InFlightJob, nodeId: NodeId, fault: unknown): Delivery {
    engine.log.error({ job_id: job.jobId, node_id: nodeId, err: fault }, 'delivery failed');
    return FAULT;
  }

  const deliveredLater = (
    flight: InFlightJob,
    nodeId: NodeId,
    attempt: number,
    delivering: Promise<Delivery>,
    previous: Sends,
  ): Promise<PlacementResult> =>
    delivering.then(
      (delivery) => delivered(flight, nodeId, attempt, delivery, previous),
      (fault: unknown) => delivered(flight, nodeId, attempt, failed(flight, nodeId, fault), previous),
    );

  /** The job ended during the reserve. Another driver may have reserved the slot under the same lease id. */
  async function unneeded(flight: InFlightJob, nodeId: NodeId, attempt: number): Promise<PlacementResult> {
    if (!isDropped(flight)) await releaseLease(engine, nodeId, leaseId(flight.job.jobId, attempt));
    return 'overtaken';
  }

  function delivered(
    flight: InFlightJob,
    nodeId: NodeId,
    attempt: number,
    delivery: Delivery,
    previous: Sends,
  ): MaybePromise<PlacementResult> {
    if (isDropped(flight)) return 'overtaken';
    if ('reason' in delivery) return notSent(flight, nodeId, attempt, delivery, previous);
    const deliveredAt = clock.precise();
    if (flight.attempts === attempt) noteStage(engine, SEND, deliveredAt - flight.sentAt);
    // The report that ended the attempt arrived before the reply.
    if (hasReleased(flight, attempt)) return holdsFence(flight.job, nodeId, attempt) ? 'sent' : 'overtaken';
    engine.nodes.placed(nodeId, flight.compiled.need);
    const isIntended = isMeantFor(flight.job, nodeId, attempt);
    // A report says more about the path than the reply `sent`.
    if (isIntended || (delivery.kind !== 'sent' && holdsFence(flight.job, nodeId, attempt)))
      noteDelivered(flight, delivery);
    // A report or a timeout has moved the job during the delivery.
    if (!isIntended) return cancelOvertaken(engine, flight, nodeId, attempt);
    return recordSent(flight, nodeId, attempt, deliveredAt);
  }

  async function notSent(
    flight: InFlightJob,
    nodeId: NodeId,
    attempt: number,
    delivery: Extract<Delivery, { reason: string }>,
    previous: Sends,
  ): Promise<PlacementResult> {
    const { jobId } = flight.job;
    const fields = attemptFields(flight.job, delivery.reason, { nodeId, attempt });
    engine.log.info(fields, `the job was not delivered: ${delivery.kind}`);
    // A report of the node has made its attempt the fence meanwhile.
    if (holdsFence(flight.job, nodeId, attempt)) return 'sent';
    if (delivery.kind === 'unknown') {
      // Its lease is marked when another node has the job or when no report arrives: until then a report of the node counts.
      watchLeaseEnd(engine, nodeId);
      return isMeantFor(flight.job, nodeId, attempt) ? 'no_node' : 'overtaken';
    }
    if (delivery.kind === 'declined') engine.nodes.outcome(nodeId, 'failed', flight.compiled.need);
    if (delivery.kind === 'overloaded') engine.meter.count('scheduler_node_overload_reject_total', FULL);
    // The node does not have the job and never gets it: the attempt did not happen.
    if (flight.attempts === attempt) noteUnsent(flight, previous);
    skipNode(flight, nodeId, clock.now() + SKIP_MS);
    await releaseLease(engine, nodeId, leaseId(jobId, attempt));
    return 'no_node';
  }

  return { reserve, place: createTryCandidates(engine, { reserve, send }), send, recordSent };
}

/** How long a job skips a node that could not take it. */
export const SKIP_MS = 1_000;

const TAKEN = { result: 'success' };
const REFUSED = { result: 'fail' };
const UNKNOWN = { result: 'error' };
const FULL = { reason: 'full' };
const FAULT = { kind: 'unknown', reason: 'fault' } as const;

export function assignmentOf(
  { job, audioAt }: InFlightJob,
  nodeId: NodeId,
  attempt: number,
  expiresAt: number,
): Assignment {
  // Most audio is held here, and most assignments need no address.
  return typeof audioAt === 'object'
    ? { nodeId, attempt, job, expiresAt, audioAt }
    : { nodeId, attempt, job, expiresAt };
}
