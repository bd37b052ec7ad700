/** Hot path: a job without a slot waits in the queue, tries again when woken, and stops at its limit. */
import { spokenDirections } from '../../domain/needed-directions.ts';
import { type Priority, priorityWithin } from '../../domain/tenancy.ts';
import { cancelUnconfirmed } from '../attempts/superseded-leases.ts';
import { candidates, isCandidate, UNCOUNTED } from '../dispatch/candidates.ts';
import type { Placement, PlacementResult } from '../dispatch/placement.ts';
import { noteStage, WAIT } from '../dispatch/stage-times.ts';
import { advance, type Engine } from '../engine.ts';
import type { InFlightJob } from '../in-flight-job.ts';
import { type CompiledNeed, routeOf } from '../select/compile-need.ts';
import type { Waiter } from './waiting-queue.ts';

/** Reason of a move that ends a reservation without an attempt. */
export const NO_SLOT = 'no_slot';

const UNPLACED = { intent: null, reason: NO_SLOT };
const WAITING = { limit: 'waiting' };

/**
 * `unconfirmed`: a send has an unknown result. `queue_full`: too many jobs wait in total; `tenant_queue_full`: too many of this tenant.
 */
export type Waited =
  | Exclude<PlacementResult, 'no_node'>
  | 'unconfirmed'
  | 'limit'
  | 'queue_full'
  | 'tenant_queue_full';

/** Resolves when the job was sent, when another event settled it, or when the wait ends. */
export function waitForSlot(
  engine: Engine,
  placement: Placement,
  flight: InFlightJob,
  wait: {
    isRetry: boolean;
    limitMs: number;
    priority?: Priority | undefined;
    isDependant?: boolean | undefined;
  },
): Promise<Waited> {
  const { tenantId } = flight.job;
  const waitingClass = wait.isRetry
    ? 'retry'
    : priorityWithin(engine.tenancy.of(tenantId).priority, wait.priority);
  const joinedAt = engine.clock.precise();
  // An earlier wait may still run if a later attempt failed during its try: only the new wait counts.
  flight.stopWaiting?.();
  return new Promise((resolve) => {
    let isOver = false;
    let isTrying = false;
    let isLate = false;
    let isJoined = false;

    const end = (waited: Waited): void => {
      if (isOver) return;
      isOver = true;
      limit.cancel();
      if (waited === 'sent') engine.meter.count('scheduler_waiting_served_total', { class: waitingClass });
      engine.queue.leave(waiter);
      if (isJoined)
        engine.serviceRates.left(waiter.shape, waitingClass, waited === 'sent', engine.clock.now());
      if (waited !== 'queue_full' && waited !== 'tenant_queue_full')
        noteStage(engine, WAIT, engine.clock.precise() - joinedAt);
      flight.stopWaiting = undefined;
      resolve(waited);
    };

    const attempt = async (): Promise<void> => {
      // Another job of the tenant may have taken the unit. A retried job counts anyway when it has a node.
      if (!wait.isRetry && !engine.inFlightJobs.quotaUnit(flight)) {
        engine.queue.rejoin(waiter);
        return;
      }
      isTrying = true;
      const placed = await placement.place(
        flight,
        candidates(engine, flight, flight.job.spec.utteranceIndex),
      );
      if (isOver) return;
      if (placed !== 'no_node') end(placed);
      else if (!wait.isRetry && flight.attempts > 0) end('unconfirmed');
      else if (!(await backToWaiting(engine, flight, wait.isRetry))) end('overtaken');
      else waitOn();
      isTrying = false;
    };

    const waitOn = (): void => {
      if (!wait.isRetry) engine.inFlightJobs.releaseQuotaUnit(flight);
      if (isLate) end('limit');
      else if (!isOver) engine.queue.rejoin(waiter);
    };

    /** A slot may have become free before the job joined the queue. */
    const tryIfMissed = (): void => {
      const isOnlyWaiter = engine.queue.size() === 1;
      if (isOnlyWaiter && waiter.hasCandidate() && engine.queue.leave(waiter)) waiter.wake();
    };

    const waiter: Waiter = {
      tenantId,
      shape: shapeOf(flight.compiled),
      class: waitingClass,
      isDependant: wait.isDependant,
      since: engine.clock.now(),
      poolId: firstPoolOf(flight.compiled),
      directions: spokenDirections(flight.job.spec),
      fits: (nodeId) => isCandidate(engine, flight, flight.job.spec.utteranceIndex, nodeId),
      hasCandidate: () =>
        candidates(engine, flight, flight.job.spec.utteranceIndex, UNCOUNTED).next() !== undefined,
      wake: () => void attempt(),
    };

    const limit = engine.wheel.set(wait.limitMs, () => {
      // The try under way decides: the job may be being sent.
      if (isTrying) isLate = true;
      else end('limit');
    });
    flight.stopWaiting = () => end('overtaken');
    const hadQuotaUnit = flight.quotaUnit !== undefined;
    if (!wait.isRetry) engine.inFlightJobs.releaseQuotaUnit(flight);
    const joined = engine.queue.join(waiter);
    // Other jobs of the tenant may use the released unit.
    if (hadQuotaUnit) engine.queue.wakeOf(tenantId);
    if (joined === 'joined') {
      isJoined = true;
      engine.serviceRates.joined(waiter.shape, waitingClass, engine.clock.now());
      engine.refreshFullNodes?.needed();
      tryIfMissed();
      return;
    }
    engine.meter.count('scheduler_rate_limited_total', WAITING);
    if (joined === 'tenant_full') {
      engine.meter.count('scheduler_tenant_refused_total', WAITING);
      engine.tenancy.reached(tenantId, 'waiting');
    }
    end(joined === 'full' ? 'queue_full' : 'tenant_queue_full');
  });
}

/** Without fallback, jobs with equal needs may wait for different pools. */
export function shapeOf(compiled: CompiledNeed): unknown {
  const confinement = routeOf(compiled)?.confinement;
  return confinement?.kind === 'no_fallback' ? `${confinement.poolId} ${compiled.query.key}` : compiled.query;
}

function firstPoolOf(compiled: CompiledNeed): number | undefined {
  const route = routeOf(compiled);
  return route === undefined || route.count === 0 ? undefined : route.poolIds[route.start];
}

/** A try that recorded RESERVED and found no node returns to its waiting state. */
export async function backToWaiting(engine: Engine, flight: InFlightJob, isRetry: boolean): Promise<boolean> {
  const { state } = flight.job;
  // A job that was resumed before it was ever placed waits like a retry.
  if (state !== 'RESERVED') return state === 'CREATED' || (isRetry && state === 'RETRYING');
  const isBack = await advance(engine, flight, isRetry ? 'gave_up' : 'unplaced', UNPLACED);
  if (isBack) cancelUnconfirmed(engine, flight, flight.job.fence);
  return isBack;
}
