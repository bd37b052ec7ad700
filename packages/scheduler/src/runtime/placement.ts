/** Hot path: reserve → record → send, over the candidates of a selection, until one has the job. */
import type { NodeId } from '../domain/ids.ts';
import { leaseId } from '../domain/lease.ts';
import type { ReserveResult } from '../ports/capacity-ledger.ts';
import type { Delivery } from '../ports/node-link.ts';
import { advance, type Engine, giveBack, leaveFenced } from './engine.ts';
import type { Flight } from './flight.ts';
import type { Selection } from './select/select.ts';

/** Tries per round; past that the views of those nodes have just been corrected, and waiting serves better. */
const MAX_TRIES = 32;

export type Placed = 'sent' | 'nobody' | 'overtaken';

/** The first candidate of a new job is reserved while its record is being written. */
export interface Head {
  readonly nodeId: NodeId;
  readonly isReserved: boolean;
}

export interface Placement {
  /** Never rejects; `false` also when the store did not answer, and then the slot is given back to be safe. */
  reserve(nodeId: NodeId, lease: string): Promise<boolean>;
  /** `sent`: the job left for a node. `overtaken`: something else settled or answered it meanwhile. */
  place(flight: Flight, selection: Selection, head?: Head): Promise<Placed>;
  /** The node has the job: its attempt becomes the fence. Safe to repeat; an answer may be here before the send returns. */
  recordSent(flight: Flight, nodeId: NodeId, attempt: number): Promise<Placed>;
}

export function createPlacement(engine: Engine, on: { attemptSent(flight: Flight): void }): Placement {
  const { ledger, fleet, link, settings, clock } = engine;

  async function reserve(nodeId: NodeId, lease: string): Promise<boolean> {
    let answer: ReserveResult;
    try {
      answer = await ledger.reserve(nodeId, lease, settings.reservationTtlMs);
    } catch (fault) {
      engine.log.warn(
        { node_id: nodeId, lease, err: fault },
        'a reserve did not answer: it may have taken a slot',
      );
      engine.meter.count('scheduler_reserve_attempt_total', UNKNOWN);
      await giveBack(engine, nodeId, lease);
      return false;
    }
    if ('used' in answer) fleet.setLoad(nodeId, answer);
    const isTaken = answer.kind === 'reserved' || answer.kind === 'already';
    engine.meter.count('scheduler_reserve_attempt_total', isTaken ? TAKEN : REFUSED);
    return isTaken;
  }

  async function recordSent(flight: Flight, nodeId: NodeId, attempt: number): Promise<Placed> {
    const before = flight.job.fence;
    const fence = { nodeId, attempt };
    const hasMoved = await advance(engine, flight, 'dispatched', { fence, intent: null });
    if (!hasMoved) {
      const isAnswered = flight.job.fence?.attempt === attempt && flight.job.fence.nodeId === nodeId;
      if (isAnswered) return 'sent';
      link.cancel(nodeId, flight.job.jobId, 'superseded');
      await leaveFenced(engine, nodeId, leaseId(flight.job.jobId, attempt));
      return 'overtaken';
    }
    if (before !== undefined) await fenceOff(flight, before.nodeId, before.attempt);
    engine.flights.board(flight, nodeId);
    const profile = engine.nodes.profile(nodeId);
    flight.doesAcknowledge = profile?.supports.includes('job_ack') === true;
    if (settings.isSpreadEnabled || profile?.isDeployed === true) {
      engine.history.note(flight.job.sessionId, nodeId, flight.job.spec.utteranceIndex, flight.sentAt);
    }
    if (!flight.doesAcknowledge) await commitUnasked(flight, nodeId, attempt);
    on.attemptSent(flight);
    return 'sent';
  }

  /** The attempt before is fenced now that it has a successor, and not earlier: until here its answer would have counted. */
  async function fenceOff(flight: Flight, nodeId: NodeId, attempt: number): Promise<void> {
    engine.flights.leave(flight, nodeId);
    link.cancel(nodeId, flight.job.jobId, 'superseded');
    await leaveFenced(engine, nodeId, leaseId(flight.job.jobId, attempt));
  }

  /** A node that never acknowledges has accepted the job by taking it from the wire. */
  async function commitUnasked(flight: Flight, nodeId: NodeId, attempt: number): Promise<void> {
    const lease = leaseId(flight.job.jobId, attempt);
    try {
      await ledger.commit(nodeId, lease, settings.jobTimeoutMs + settings.leaseGraceMs);
    } catch (fault) {
      engine.log.warn({ node_id: nodeId, lease, err: fault }, 'a lease could not be lengthened');
    }
  }

  async function send(flight: Flight, nodeId: NodeId, attempt: number): Promise<Placed> {
    const now = clock.now();
    let delivery: Delivery;
    try {
      delivery = await link.deliver({
        nodeId,
        attempt,
        job: flight.job,
        expiresAt: now + settings.ackTimeoutMs,
      });
    } catch (fault) {
      engine.log.error({ job_id: flight.job.jobId, node_id: nodeId, err: fault }, 'delivery failed');
      delivery = FAULT;
    }
    if (delivery.kind !== 'written' && delivery.kind !== 'queued')
      return notSent(flight, nodeId, attempt, delivery);
    flight.attempts = attempt;
    flight.sentTo.push(nodeId);
    flight.sentAt = now;
    engine.nodes.placed(nodeId);
    return recordSent(flight, nodeId, attempt);
  }

  async function notSent(
    flight: Flight,
    nodeId: NodeId,
    attempt: number,
    delivery: Extract<Delivery, { reason: string }>,
  ): Promise<Placed> {
    const { jobId } = flight.job;
    const fields = { job_id: jobId, node_id: nodeId, attempt_id: attempt, reason: delivery.reason };
    engine.log.info(fields, `the job did not reach its node: ${delivery.kind}`);
    if (delivery.kind === 'unknown') {
      flight.attempts = attempt;
      flight.sentTo.push(nodeId);
      await leaveFenced(engine, nodeId, leaseId(jobId, attempt));
      return 'nobody';
    }
    if (delivery.kind === 'overloaded') engine.meter.count('scheduler_node_overload_reject_total', FULL);
    await giveBack(engine, nodeId, leaseId(jobId, attempt));
    return 'nobody';
  }

  return {
    reserve,
    recordSent,

    async place(flight, selection, head) {
      let first = head;
      for (let tries = 0; tries < MAX_TRIES; tries++) {
        const nodeId = first?.nodeId ?? selection.next();
        if (nodeId === undefined) return 'nobody';
        const attempt = flight.attempts + 1;
        const isRecorded = first !== undefined;
        const isReserved = first?.isReserved ?? (await reserve(nodeId, leaseId(flight.job.jobId, attempt)));
        first = undefined;
        if (!isReserved) continue;
        if (!isRecorded && !(await advance(engine, flight, 'reserved', { intent: { nodeId, attempt } }))) {
          await giveBack(engine, nodeId, leaseId(flight.job.jobId, attempt));
          return 'overtaken';
        }
        const placed = await send(flight, nodeId, attempt);
        if (placed !== 'nobody') return placed;
      }
      return 'nobody';
    },
  };
}

const TAKEN = { result: 'success' };
const REFUSED = { result: 'fail' };
const UNKNOWN = { result: 'error' };
const FULL = { reason: 'full' };
const FAULT: Delivery = { kind: 'unknown', reason: 'fault' };
