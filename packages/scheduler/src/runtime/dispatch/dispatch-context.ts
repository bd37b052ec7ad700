/** Hot path: the state of a request until its job is in flight, and its quota unit if its tenant has a cap. */
import type { DispatchOutcome, DispatchRequest } from '../../domain/dispatch.ts';
import type { JobId, NodeId } from '../../domain/ids.ts';
import type { MaybePromise } from '../../domain/with-timeout.ts';
import type { Engine } from '../engine.ts';
import { NO_SKIPPED_NODES } from '../in-flight-job.ts';
import type { QuotaUnit } from '../queue/inflight-caps.ts';
import { NO_CANDIDATES, type Selection } from '../select/select.ts';
import type { SelectionInput } from './candidates.ts';

/** A request without an in-flight job yet: one object, passed from step to step. */
export interface DispatchContext extends SelectionInput {
  readonly request: DispatchRequest;
  /** The tenant is at its cap: no node is tried before one of its jobs ends. */
  readonly isHeld: boolean;
  /** The candidates, and the first of them. */
  selection: Selection;
  nodeId: NodeId | undefined;
  /** The job id, from the time the request has a node or may wait for one. */
  jobId: JobId;
  /** The reply of the ledger; undefined: no slot was requested. */
  reserving: MaybePromise<boolean> | undefined;
  /** Moves to the in-flight job when there is one. */
  quotaUnit: QuotaUnit | undefined;
  /** With fractions of a millisecond. */
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

/** The request needs no unit: a repeat uses its job's. Waiting jobs of the tenant may use it. */
export function releaseQuotaUnit(engine: Pick<Engine, 'caps' | 'queue'>, context: DispatchContext): void {
  const { quotaUnit } = context;
  if (quotaUnit === undefined) return;
  context.quotaUnit = undefined;
  engine.caps?.release(quotaUnit);
  engine.queue.wakeOf(context.request.tenantId);
}

/** Releases the quota unit after the request, unless an in-flight job has taken it. */
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
