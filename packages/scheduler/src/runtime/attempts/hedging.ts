/**
 * Hot path: a hedge is a second attempt of a job whose first takes much longer than its node usually needs. It takes a slot like every
 * attempt, and the record names it before it is sent: the first attempt keeps the fence, the hedge is the intent beside it. The result
 * that is accepted first ends the job, and the other attempt is cancelled (I3, I4).
 */
import type { NodeId } from '../../domain/ids.ts';
import { hedgeOf, type JobRecord } from '../../domain/job.ts';
import { leaseId } from '../../domain/lease.ts';
import type { Priority } from '../../domain/tenancy.ts';
import type { Delivery } from '../../ports/node-link.ts';
import { candidates, UNCOUNTED } from '../dispatch/candidates.ts';
import { assignmentOf, type Placement } from '../dispatch/placement.ts';
import { advance, type Engine, releaseForGood, releaseLease } from '../engine.ts';
import {
  attemptFields,
  type Hedge,
  type InFlightJob,
  isEnding,
  lacksAudio,
  nextAttempt,
  nodesOf,
  noteReleased,
  noteSent,
} from '../in-flight-job.ts';
import { createRetryBudget } from '../queue/retry-budget.ts';
import type { Selection } from '../select/select.ts';
import { expectedRunMs } from './expected-run.ts';
import { learnGivenUp } from './learn-speed.ts';
import { watchLeaseEnd } from './lease-expiry.ts';
import type { NodeSide } from './settle-job.ts';
import { abandonLeaseOf, cancelOvertaken } from './superseded-leases.ts';
import type { Timeouts } from './timeouts.ts';

export interface HedgeSettings {
  /** Only jobs of tenants of these classes. */
  readonly classes: ReadonlySet<Priority>;
  /** An attempt is overdue after this many times the time that its node usually needs. */
  readonly overdueFactor: number;
  /** Hedges, as a share of the attempts that nodes have acknowledged. */
  readonly budgetPercent: number;
  /** Also with nodes that do not confirm a cancel, and so probably finish what nobody needs. */
  readonly allowsWithoutCancel: boolean;
}

export interface Hedging {
  /** The node has acknowledged the attempt that holds the fence. */
  watch(flight: InFlightJob): void;
  /** The hedge, if an attempt with this number and node is the current one of the job. */
  find(flight: InFlightJob, nodeId: NodeId, attempt: number): Hedge | undefined;
  /** The hedge ends without a result that counts. */
  drop(flight: InFlightJob, hedge: Hedge, side: NodeSide): Promise<void>;
  /** The first attempt has ended without a result. True: the hedge holds the fence from now on. */
  takeOver(flight: InFlightJob, reason: string): Promise<boolean>;
}

/** While a reason against a hedge may pass. */
const AGAIN_MS = 250;
/** Hedges that may start at once after a time without any. */
const BURST = 10;
const MOST_TRIES = 8;
/** In the timeline. */
export const HEDGED = 'HEDGED';
const HEDGE_ENDED = 'HEDGE_ENDED';
export const HEDGE_STARTS = 'a job is overdue, and gets a second attempt on another node';

export function createHedging(
  engine: Engine,
  {
    placement,
    timeouts,
  }: { placement: Pick<Placement, 'reserve'>; timeouts: Pick<Timeouts, 'acknowledged'> },
): Hedging {
  const { clock, wheel, settings, meter, tenancy, link } = engine;
  const { hedge: terms } = settings;
  const budget = createRetryBudget({ percent: terms?.budgetPercent ?? 0, burst: BURST, first: 0 });

  const doesCancel = (nodeId: NodeId): boolean =>
    terms?.allowsWithoutCancel === true ||
    engine.nodes.profile(nodeId)?.supports.includes('cancel_ack') === true;

  const isRunning = (flight: InFlightJob): boolean =>
    flight.driving === 'ours' && flight.job.state === 'RUNNING' && !isEnding(flight);

  function overdue(flight: InFlightJob): void {
    flight.hedgeTimer = undefined;
    const { fence, spec } = flight.job;
    const isFit = flight.hedge === undefined && !lacksAudio(flight) && spec.isInterim !== true;
    if (!isRunning(flight) || !isFit || fence === undefined || flight.abandonedAttempt === fence.attempt)
      return;
    // Otherwise the next job would be sent there because the node still counts as fast.
    learnGivenUp(engine, flight);
    void begin(flight, fence.nodeId).then((reason) => {
      if (reason === undefined) return;
      meter.count('scheduler_hedges_refused_total', { reason });
      flight.hedgeTimer = wheel.setAt(clock.now() + AGAIN_MS, overdue, flight);
    });
  }

  /** Why there is no hedge now; undefined: there is one, or none is needed any more. */
  async function begin(flight: InFlightJob, first: NodeId): Promise<Obstacle | undefined> {
    if (engine.queue.size() > 0) return 'jobs_wait';
    if (engine.caps?.hasRoom(flight.job.tenantId) === false) return 'tenant_at_cap';
    if (!doesCancel(first)) return 'no_cancel';
    const since = clock.precise();
    const nodeId = nextOf(candidates(engine, flight, flight.job.spec.utteranceIndex, UNCOUNTED));
    if (nodeId === undefined) return 'no_slot';
    if (!budget.take()) return 'budget';
    const hedge: Hedge = { nodeId, attempt: nextAttempt(flight), sentAt: 0, isAcknowledged: false };
    const lease = leaseId(flight.job.jobId, hedge.attempt);
    flight.hedge = hedge;
    if (!(await placement.reserve(nodeId, lease, since, false))) {
      flight.hedge = undefined;
      return 'no_slot';
    }
    const intent = { nodeId, attempt: hedge.attempt };
    const isRecorded =
      isRunning(flight) && (await advance(engine, flight, 'hedged', { intent, reason: HEDGED }));
    if (isRecorded && isRunning(flight) && isCurrent(flight.job, hedge)) await send(flight, hedge);
    else if (flight.driving !== 'elsewhere') await releaseLease(engine, nodeId, lease);
    return undefined;
  }

  function nextOf(selection: Selection): NodeId | undefined {
    for (let tries = 0; tries < MOST_TRIES; tries += 1) {
      const nodeId = selection.next();
      if (nodeId === undefined || doesCancel(nodeId)) return nodeId;
    }
    return undefined;
  }

  async function send(flight: InFlightJob, hedge: Hedge): Promise<void> {
    const { nodeId, attempt } = hedge;
    const now = clock.precise();
    hedge.sentAt = now;
    noteSent(flight, nodeId);
    engine.nodes.placed(nodeId, flight.compiled.need);
    meter.count('scheduler_hedges_total', SENT);
    engine.log.info(attemptFields(flight.job, HEDGED, hedge), HEDGE_STARTS);
    let delivery: Delivery;
    try {
      delivery = await link.deliver(
        assignmentOf(flight, nodeId, attempt, Math.floor(now) + settings.ackTimeoutMs),
      );
    } catch (fault) {
      engine.log.error(
        { job_id: flight.job.jobId, node_id: nodeId, err: fault },
        'delivery of a hedge failed',
      );
      delivery = { kind: 'unknown', reason: 'fault' };
    }
    // A mailbox commits the lease without waiting for a replica, and a hedge is not worth a second commit.
    const isUnsafe = delivery.kind === 'queued' && settings.isReplicaAwaited;
    if (!isCurrent(flight.job, hedge)) await cancelOvertaken(engine, flight, nodeId, attempt);
    else if ('reason' in delivery) await drop(flight, hedge, delivery.kind === 'unknown' ? 'open' : 'over');
    else if (isUnsafe) await drop(flight, hedge, 'open');
  }

  async function drop(flight: InFlightJob, hedge: Hedge, side: NodeSide): Promise<void> {
    const { nodeId, attempt } = hedge;
    const { jobId } = flight.job;
    meter.count('scheduler_hedges_total', FAILED);
    // It is the last of them, and needs no further cancel.
    flight.cancelsSent = nodesOf(flight.sentTo).length;
    engine.nodes.outcome(nodeId, 'unproven', flight.compiled.need);
    if (side === 'over') {
      noteReleased(flight, attempt);
      await releaseForGood(engine, nodeId, leaseId(jobId, attempt));
    } else {
      link.cancel(nodeId, jobId, 'superseded');
      await abandonLeaseOf(engine, flight, hedge);
      watchLeaseEnd(engine, nodeId);
    }
    if (isCurrent(flight.job, hedge))
      await advance(engine, flight, 'hedged', { intent: null, reason: HEDGE_ENDED });
  }

  async function takeOver(flight: InFlightJob, reason: string): Promise<boolean> {
    const { hedge } = flight;
    if (hedge === undefined || !isCurrent(flight.job, hedge)) return false;
    const view = engine.fleet.view(hedge.nodeId);
    // A node that may not have the job, or is lost as well, would delay the next attempt.
    if (!hedge.isAcknowledged || view === undefined || view.health === 'offline') {
      await drop(flight, hedge, 'open');
      return false;
    }
    const fence = { nodeId: hedge.nodeId, attempt: hedge.attempt };
    while (!(await advance(engine, flight, 'hedged', { fence, intent: null, reason })))
      if (!isRunning(flight) || !isCurrent(flight.job, hedge)) return false;
    flight.attempts = hedge.attempt;
    flight.sentAt = hedge.sentAt;
    engine.inFlightJobs.setNode(flight, hedge.nodeId);
    timeouts.acknowledged(flight);
    meter.count('scheduler_hedges_total', TOOK_OVER);
    engine.log.info(attemptFields(flight.job, reason), 'a hedge continues in place of the first attempt');
    return true;
  }

  return {
    watch(flight) {
      const { fence, tenantId } = flight.job;
      if (terms === undefined || fence === undefined || flight.hedge !== undefined) return;
      budget.earn();
      if (!terms.classes.has(tenancy.of(tenantId).priority)) return;
      const expected = expectedRunMs(engine, flight, fence.nodeId);
      if (expected === undefined) return;
      flight.hedgeTimer?.cancel();
      flight.hedgeTimer = wheel.setAt(flight.sentAt + terms.overdueFactor * expected, overdue, flight);
    },
    find: ({ job, hedge, driving }, nodeId, attempt) =>
      driving === 'ours' && hedge?.nodeId === nodeId && hedge.attempt === attempt && isCurrent(job, hedge)
        ? hedge
        : undefined,
    drop,
    takeOver,
  };
}

type Obstacle = 'jobs_wait' | 'tenant_at_cap' | 'no_cancel' | 'no_slot' | 'budget';

const isCurrent = (job: JobRecord, { nodeId, attempt }: Hedge): boolean => {
  const current = hedgeOf(job);
  return current?.attempt === attempt && current.nodeId === nodeId;
};

const SENT = { outcome: 'sent' };
const FAILED = { outcome: 'failed' };
const TOOK_OVER = { outcome: 'took_over' };
