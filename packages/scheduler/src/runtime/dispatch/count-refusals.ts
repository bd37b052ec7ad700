/** Failure path: creates refusals and counts them by code and reason. */
import type { DispatchOutcome } from '../../domain/dispatch.ts';
import type { ErrorCode } from '../../domain/errors.ts';
import type { TenantId } from '../../domain/ids.ts';
import type { Need, RejectionCount } from '../../domain/need.ts';
import type { PoolId } from '../../domain/pool.ts';
import type { Engine } from '../engine.ts';
import type { FleetView } from '../fleet/fleet-view.ts';
import { isClosedTo } from '../select/clauses.ts';
import type { SelectionInput } from './candidates.ts';
import type { TooLate } from './foresee-wait.ts';
import type { Refusal } from './refusal.ts';
import { retryAfterMs } from './retry-after.ts';

export interface Refusals {
  refuse(code: ErrorCode, message: string): DispatchOutcome;
  /** `isTried`: there were candidates, but the ledger or the nodes had no slot. */
  refuseWith(why: Refusal, input: SelectionInput, isTried: boolean): DispatchOutcome;
  /** It would get a slot after its limit. */
  tooLate(why: Refusal, late: TooLate, input: SelectionInput): DispatchOutcome;
  /** The tenant is at its cap of jobs in flight. */
  atCap(tenantId: TenantId): DispatchOutcome;
  /** The tenant is at its cap of waiting jobs. */
  atQueueCap(tenantId: TenantId): DispatchOutcome;
}

/** Which requirement failed: reserving, pools, features, named services, or types only. */
export type Selector = 'reserve' | 'phase3' | 'features' | 'models' | 'types';

export function selectorOf({ compiled }: SelectionInput, isTried: boolean): Selector {
  const { need } = compiled;
  if (isTried) return 'reserve';
  if (compiled.route !== undefined) return 'phase3';
  if ((need.features?.length ?? 0) > 0) return 'features';
  return need.services.length > 0 ? 'models' : 'types';
}

export function createRefusals(
  engine: Pick<
    Engine,
    'clock' | 'meter' | 'fleet' | 'queue' | 'slotTimes' | 'excluded' | 'caps' | 'tenancy' | 'refreshFullNodes'
  >,
): Refusals {
  function refuse(code: ErrorCode, message: string): DispatchOutcome {
    engine.meter.count('scheduler_jobs_refused_total', { code });
    return { kind: 'refused', code, message };
  }

  function refuseWith(why: Refusal, input: SelectionInput, isTried: boolean): DispatchOutcome {
    const { code, message, hint, reasons, mainReason, isMarkedOut } = why;
    const selector = selectorOf(input, isTried);
    engine.meter.count('scheduler_no_available_node_total', { selector, reason: mainReason });
    if (isMarkedOut === true) engine.meter.count('scheduler_model_na_last_candidate_total');
    engine.excluded.note(reasons);
    if (code === 'ALL_CANDIDATES_FULL_OR_FAILED') engine.refreshFullNodes?.needed();
    engine.meter.count('scheduler_jobs_refused_total', { code });
    const fullPool = fullPoolOf(why, input);
    if (fullPool !== undefined) engine.meter.count('scheduler_pool_refused_total', { pool: `${fullPool}` });
    return {
      kind: 'refused',
      code,
      fullPool,
      message,
      hint,
      reasons: reasons.map((each) => withoutClosed(engine.fleet, input.compiled.need, each)),
      mainReason,
      retryAfterMs: retryAfterMs(engine, why, input.compiled.need),
    };
  }

  return {
    refuse,
    refuseWith,
    tooLate(why, { waitMs, limitMs }, input) {
      engine.meter.count('scheduler_jobs_too_late_total', REFUSED);
      const seconds = (ms: number): string => (ms / 1_000).toFixed(1);
      const { code, message } = why;
      const late = `${message} With the jobs that wait now it would take at least ${seconds(waitMs)} s, and this one can wait ${seconds(limitMs)} s.`;
      return {
        ...refuseWith({ ...why, code, message: late }, input, false),
        retryAfterMs: waitMs,
      } as DispatchOutcome;
    },
    atCap(tenantId) {
      engine.meter.count('scheduler_tenant_refused_total', IN_FLIGHT);
      engine.tenancy.reached(tenantId, 'inflight');
      return refuse('RATE_LIMITED', engine.caps?.explain(tenantId) ?? '');
    },
    atQueueCap(tenantId) {
      const { of, share } = engine.tenancy;
      const most = share(of(tenantId).maxWaiting);
      return refuse(
        'RATE_LIMITED',
        `tenant ${tenantId} has ${most} jobs waiting for a slot on this instance, which is its limit (max_waiting_per_tenant): send fewer jobs at once, or raise the limit`,
      );
    },
  };
}

/** The pool that the job would have tried first, if more nodes in it would have helped. */
function fullPoolOf(
  { code, mainReason }: Refusal,
  { compiled: { route } }: SelectionInput,
): PoolId | undefined {
  const isLackOfNodes = code === 'ALL_CANDIDATES_FULL_OR_FAILED' || mainReason === 'no_nodes';
  return isLackOfNodes ? route?.poolIds[route.start] : undefined;
}

/** A tenant must not learn the ids of nodes that are private to another tenant; it gets their number only. */
const withoutClosed = (fleet: FleetView, need: Need, each: RejectionCount): RejectionCount => ({
  ...each,
  sampleNodeIds: each.sampleNodeIds.filter((nodeId) => {
    const view = fleet.view(nodeId);
    return view !== undefined && !isClosedTo(need, view.profile);
  }),
});

const REFUSED = { outcome: 'refused' };
const IN_FLIGHT = { limit: 'inflight' };
