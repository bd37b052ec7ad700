/** Hot path: counts the outcomes of dispatches while the model hub is down. A dispatch never waits for it. */
import type { DispatchOutcome, DispatchRequest } from '../../domain/dispatch.ts';
import type { MaybePromise } from '../../domain/with-timeout.ts';
import type { Meter } from '../../ports/meter.ts';

type Dispatch = (request: DispatchRequest) => MaybePromise<DispatchOutcome>;

export function countWhileHubDown(deps: {
  readonly dispatch: Dispatch;
  readonly isHubDown: () => boolean;
  readonly meter: Meter;
}): Dispatch {
  const { dispatch, isHubDown, meter } = deps;
  const note = (outcome: DispatchOutcome): void => {
    // Tenants at their limit are refused with and without the hub.
    if (outcome.kind === 'refused' && outcome.code === 'RATE_LIMITED') return;
    meter.count('scheduler_hub_down_dispatch_total', {
      outcome: outcome.kind === 'dispatched' ? 'admitted' : 'refused',
    });
  };
  return (request) => {
    const outcome = dispatch(request);
    if (isHubDown()) Promise.resolve(outcome).then(note, () => undefined);
    return outcome;
  };
}
