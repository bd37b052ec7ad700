/** Hot path: refuses new work of a tenant that has used up a hard quota. Accepted work goes on, and repeats find their jobs. */
import type { DispatchOutcome, DispatchRequest } from '../../domain/dispatch.ts';
import type { TenantId } from '../../domain/ids.ts';
import { describeQuota, type QuotaState } from '../../domain/quota.ts';
import type { MaybePromise } from '../../domain/with-timeout.ts';
import type { Clock } from '../../ports/clock.ts';
import type { JobStore } from '../../ports/job-store.ts';
import type { Meter } from '../../ports/meter.ts';
import type { Quotas } from './quotas.ts';

type Dispatch = (request: DispatchRequest) => MaybePromise<DispatchOutcome>;

export function dispatchWithinQuotas(deps: {
  readonly dispatch: Dispatch;
  readonly quotas: Pick<Quotas, 'exceeded'>;
  readonly store: Pick<JobStore, 'bound'>;
  readonly clock: Clock;
  readonly meter: Meter;
}): Dispatch {
  const { dispatch, quotas, store, clock, meter } = deps;

  function decide(request: DispatchRequest, exceeded: QuotaState | undefined): MaybePromise<DispatchOutcome> {
    return exceeded === undefined ? dispatch(request) : refuseIfNew(request, exceeded);
  }

  const bound = (tenantId: TenantId, requestId: string) =>
    store.bound(tenantId, requestId).catch(() => 'unknown' as const);

  async function refuseIfNew(request: DispatchRequest, exceeded: QuotaState): Promise<DispatchOutcome> {
    const { tenantId, requestId } = request;
    const known = requestId === undefined ? undefined : await bound(tenantId, requestId);
    if (known === 'unknown') return STORE_DOWN;
    if (known !== undefined) return dispatch(request);
    const { unit, period, resetsAt } = exceeded;
    meter.count('scheduler_quota_refused_total', { unit, period });
    return {
      kind: 'refused',
      code: 'QUOTA_EXCEEDED',
      message: describeQuota(tenantId, exceeded),
      retryAfterMs: Math.max(1, resetsAt - clock.now()),
    };
  }

  return (request) => {
    // It continues work that was accepted.
    if (request.isDependant === true) return dispatch(request);
    const exceeded = quotas.exceeded(request.tenantId);
    return exceeded instanceof Promise
      ? exceeded.then((known) => decide(request, known))
      : decide(request, exceeded);
  };
}

const STORE_DOWN: DispatchOutcome = {
  kind: 'refused',
  code: 'SCHEDULER_DEPENDENCY_DOWN',
  message: 'the job store does not answer',
};
