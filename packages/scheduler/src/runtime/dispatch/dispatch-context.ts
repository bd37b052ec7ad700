/** Hot path, where some tenant has a cap: a request takes one of its tenant's seats before it is anything else, and its flight keeps it. */
import type { DispatchOutcome, DispatchRequest } from '../../domain/dispatch.ts';
import type { JobId, NodeId } from '../../domain/ids.ts';
import type { MaybePromise } from '../../domain/maybe-promise.ts';
import type { Engine } from '../engine.ts';
import { NO_SKIPPED_NODES } from '../in-flight-job.ts';
import type { QuotaUnit } from '../queue/inflight-caps.ts';
import { NO_CANDIDATES, type Selection } from '../select/select.ts';
import type { SelectionInput } from './candidates.ts';

/** A request that has no flight yet, and what is decided of it until it has one: one object, handed on from step to step. */
export interface DispatchContext extends SelectionInput {
  readonly request: DispatchRequest;
  /** Its tenant has as many jobs as it may: nobody is tried before one of them ends. */
  readonly isHeld: boolean;
  /** Whom to try, and the first of them. */
  selection: Selection;
  nodeId: NodeId | undefined;
  /** Its name, as soon as it has a node or may wait for one. */
  jobId: JobId;
  /** What the ledger says of a slot there; undefined: it was not asked. */
  reserving: MaybePromise<boolean> | undefined;
  /** Its flight's, as soon as there is one. */
  quotaUnit: QuotaUnit | undefined;
  /** To the fraction of a millisecond. */
  readonly begunAt: number;
}

export const createDispatchContext = (
  request: DispatchRequest,
  compiled: DispatchContext['compiled'],
  quotaUnit: QuotaUnit | undefined,
  isHeld: boolean,
  begunAt: number,
): DispatchContext => ({
  request,
  isHeld,
  need: request.need,
  compiled,
  sentTo: NO_NODE_IDS,
  retries: 0,
  skippedUntil: NO_SKIPPED_NODES,
  quotaUnit,
  begunAt,
  selection: NO_CANDIDATES,
  nodeId: undefined,
  jobId: '',
  reserving: undefined,
});

const NO_NODE_IDS: never[] = [];

/** It needs none, or none any more: a repeat has its job's. Whoever was passed over for it meanwhile is woken. */
export function releaseQuotaUnit(engine: Pick<Engine, 'caps' | 'queue'>, context: DispatchContext): void {
  const { quotaUnit } = context;
  if (quotaUnit === undefined) return;
  context.quotaUnit = undefined;
  engine.caps?.release(quotaUnit);
  engine.queue.wakeOf(context.need.tenantId);
}

/** A seat that no flight has taken over is given back, whatever becomes of the request. */
export function withQuotaUnit(
  engine: Pick<Engine, 'caps' | 'queue'>,
  context: DispatchContext,
  enter: (context: DispatchContext) => MaybePromise<DispatchOutcome>,
): MaybePromise<DispatchOutcome> {
  const release = (): void => releaseQuotaUnit(engine, context);
  let entering: MaybePromise<DispatchOutcome>;
  try {
    entering = enter(context);
  } catch (fault) {
    release();
    throw fault;
  }
  if (entering instanceof Promise) return entering.finally(release);
  release();
  return entering;
}
