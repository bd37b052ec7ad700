/** Hot path: reserve → record → send, over the candidates of a selection, until one has the job. */
import type { NodeId } from '../domain/ids.ts';
import { leaseId } from '../domain/lease.ts';
import type { ReserveResult } from '../ports/capacity-ledger.ts';
import type { Delivery } from '../ports/node-link.ts';
import { advance, type Engine, giveBack, leaveFenced } from './engine.ts';
import type { Flight } from './flight.ts';
import { matches } from './select/compile-need.ts';
import { type Selection, select } from './select/select.ts';

/** Tries per round; past that the views of those nodes have just been corrected, and waiting serves better. */
const MAX_TRIES = 32;

export type Placed = 'sent' | 'nobody' | 'overtaken';

/** The first candidate of a new job is reserved while its record is being written. */
export interface Head {
  readonly nodeId: NodeId;
  readonly isReserved: boolean;
}

export interface Placement {
  select(flight: Pick<Flight, 'compiled' | 'need' | 'sentTo' | 'retries'>, utteranceIndex: number): Selection;
  /** Never rejects; `false` also when the store did not answer, and then the slot is given back to be safe. */
  reserve(nodeId: NodeId, lease: string): Promise<boolean>;
  /** `sent`: the job left for a node. `overtaken`: something else settled or answered it meanwhile. */
  place(flight: Flight, selection: Selection, head?: Head): Promise<Placed>;
  /** The node has the job: its attempt becomes the fence. Safe to repeat; an answer may be here before the send returns. */
  recordSent(flight: Flight, nodeId: NodeId, attempt: number): Promise<Placed>;
}

export function createPlacement(
  engine: Engine,
  on: { attemptSent(flight: Flight, nodeId: NodeId, doesAcknowledge: boolean): void },
): Placement {
  const { ledger, fleet, link, settings, clock } = engine;

  async function ask(nodeId: NodeId, lease: string): Promise<ReserveResult | { kind: 'unknown' }> {
    try {
      return await ledger.reserve(nodeId, lease, settings.reservationTtlMs);
    } catch (fault) {
      engine.log.warn(
        { node_id: nodeId, lease, err: fault },
        'a reserve did not answer: it may have taken a slot',
      );
      return { kind: 'unknown' };
    }
  }

  async function reserve(nodeId: NodeId, lease: string): Promise<boolean> {
    const answer = await ask(nodeId, lease);
    engine.meter.count('scheduler_reserve_attempt_total', RESERVE_LABELS[answer.kind]);
    switch (answer.kind) {
      case 'reserved':
      case 'already':
        fleet.setLoad(nodeId, answer);
        return true;
      case 'full':
        fleet.setLoad(nodeId, answer);
        return false;
      case 'unknown':
        await giveBack(engine, nodeId, lease);
        return false;
      default:
        return false;
    }
  }

  async function deliver(flight: Flight, nodeId: NodeId, attempt: number): Promise<Delivery> {
    try {
      const expiresAt = clock.now() + settings.ackTimeoutMs;
      return await link.deliver({ nodeId, attempt, job: flight.job, expiresAt });
    } catch (fault) {
      engine.log.error({ job_id: flight.job.jobId, node_id: nodeId, err: fault }, 'delivery failed');
      return { kind: 'unknown', reason: 'fault' };
    }
  }

  /** The job is (or may be) with the node: from here on only its answer, or time, gives the slot back. */
  async function recordSent(flight: Flight, nodeId: NodeId, attempt: number): Promise<Placed> {
    const before = flight.job.fence;
    const hasMoved = await advance(engine, flight, 'dispatched', {
      fence: { nodeId, attempt },
      intent: null,
    });
    const isAnswered = flight.job.fence?.attempt === attempt && flight.job.fence.nodeId === nodeId;
    if (!hasMoved && !isAnswered) {
      link.cancel(nodeId, flight.job.jobId, 'superseded');
      await leaveFenced(engine, nodeId, leaseId(flight.job.jobId, attempt));
      return 'overtaken';
    }
    if (!hasMoved) return 'sent';
    engine.flights.board(flight, nodeId);
    if (before !== undefined) await fenceOff(flight, before.nodeId, before.attempt);
    const profile = engine.nodes.profile(nodeId);
    const doesAcknowledge = profile?.supports.includes('job_ack') === true;
    if (!doesAcknowledge) await commitUnasked(flight, nodeId, attempt);
    on.attemptSent(flight, nodeId, doesAcknowledge);
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
    const delivery = await deliver(flight, nodeId, attempt);
    const lease = leaseId(flight.job.jobId, attempt);
    if (delivery.kind === 'written' || delivery.kind === 'queued') {
      flight.attempts = attempt;
      flight.sentTo.add(nodeId);
      flight.sentAt = clock.now();
      engine.nodes.placed(nodeId);
      engine.history.note(flight.job.sessionId, nodeId, flight.job.spec.utteranceIndex, flight.sentAt);
      return recordSent(flight, nodeId, attempt);
    }
    engine.log.info(
      { job_id: flight.job.jobId, node_id: nodeId, attempt_id: attempt, reason: delivery.reason },
      `the job did not reach its node: ${delivery.kind}`,
    );
    if (delivery.kind === 'unknown') {
      flight.attempts = attempt;
      flight.sentTo.add(nodeId);
      await leaveFenced(engine, nodeId, lease);
      return 'nobody';
    }
    if (delivery.kind === 'overloaded')
      engine.meter.count('scheduler_node_overload_reject_total', { reason: 'full' });
    await giveBack(engine, nodeId, lease);
    return 'nobody';
  }

  return {
    select(flight, utteranceIndex) {
      const excluded = exclusions(engine, flight, utteranceIndex);
      const { preferredNodeId, isStrict } = flight.need;
      if (isStrict && preferredNodeId !== undefined) {
        return onlyOf(
          !excluded.has(preferredNodeId) && matches(flight.compiled, preferredNodeId),
          preferredNodeId,
        );
      }
      return select(engine.fleet, flight.compiled, {
        chance: engine.chance,
        sampleK: settings.sampleK,
        policy: settings.policy,
        excluded,
        ...avoidance(engine, flight),
      });
    },

    reserve,
    recordSent,

    async place(flight, selection, head) {
      let first = head;
      for (let tries = 0; tries < MAX_TRIES; tries++) {
        const nodeId = first?.nodeId ?? selection.next();
        if (nodeId === undefined) return 'nobody';
        const attempt = flight.attempts + 1;
        const lease = leaseId(flight.job.jobId, attempt);
        const isReserved = first === undefined ? await reserve(nodeId, lease) : first.isReserved;
        const isRecorded = first !== undefined;
        first = undefined;
        if (!isReserved) continue;
        if (!isRecorded && !(await advance(engine, flight, 'reserved', { intent: { nodeId, attempt } }))) {
          await giveBack(engine, nodeId, lease);
          return 'overtaken';
        }
        const placed = await send(flight, nodeId, attempt);
        if (placed !== 'nobody') return placed;
      }
      return 'nobody';
    },
  };
}

const RESERVE_LABELS = {
  reserved: { result: 'success' },
  already: { result: 'success' },
  full: { result: 'fail' },
  not_ready: { result: 'fail' },
  unknown_node: { result: 'fail' },
  unknown: { result: 'error' },
} as const;

function onlyOf(isFit: boolean, nodeId: NodeId): Selection {
  let isLeft = isFit;
  return {
    next() {
      const isNow = isLeft;
      isLeft = false;
      return isNow ? nodeId : undefined;
    },
  };
}

function exclusions(
  engine: Engine,
  flight: Pick<Flight, 'need' | 'sentTo'>,
  utteranceIndex: number,
): ReadonlySet<NodeId> {
  const later = engine.history.sawLater(flight.need.sessionId, utteranceIndex);
  const unfit = later.filter((nodeId) => engine.nodes.profile(nodeId)?.isDeployed === true);
  return unfit.length === 0 ? flight.sentTo : new Set([...flight.sentTo, ...unfit]);
}

/** Spread counts on the first try only: on the second, being served matters more. */
function avoidance(
  engine: Engine,
  flight: Pick<Flight, 'need' | 'retries'>,
): { avoid?: ReadonlySet<NodeId> } {
  if (!engine.settings.isSpreadEnabled || flight.retries > 0) return {};
  const last = engine.history.lastNode(
    flight.need.sessionId,
    engine.clock.now(),
    engine.settings.spreadWindowMs,
  );
  return last === undefined ? {} : { avoid: new Set([last]) };
}
