/** Failure path: why no node can take the job, with a code of the error table. Pure. */
import type { ErrorCode } from '../../domain/errors.ts';
import type { NodeId } from '../../domain/ids.ts';
import { type RefusalReason, type RejectionCount, stageOf } from '../../domain/need.ts';
import type { FleetView } from '../fleet/fleet-view.ts';
import { describeConfinement } from '../pools/describe-confinement.ts';
import type { CompiledNeed } from '../select/compile-need.ts';
import { explain, failures } from '../select/explain.ts';
import { describeMarkedOut, markedOut } from '../select/marked-out.ts';
import { CAUSES, describeNeed, hintOf } from './causes.ts';

export interface Refusal {
  readonly code: ErrorCode;
  readonly message: string;
  /** Absent: the hint of the code. */
  readonly hint?: string | undefined;
  readonly reasons: readonly RejectionCount[];
  /** What excluded the nodes that passed every stage before. */
  readonly mainReason: RefusalReason;
  /** The nodes that it excluded; absent: none, or a slot became free meanwhile. */
  readonly cause?: RejectionCount | undefined;
  /** A node may take the job as soon as its state or load allows it. */
  readonly isWaitUseful: boolean;
  /** Marks exclude a free node. */
  readonly isMarkedOut?: boolean;
}

export function refusal(fleet: FleetView, compiled: CompiledNeed, excluded: ReadonlySet<NodeId>): Refusal {
  const { need } = compiled;
  if (need.isStrict && need.preferredNodeId !== undefined) {
    return refusalOfStrict(fleet, compiled, excluded, need.preferredNodeId);
  }
  const { total, eligible, reasons, cause } = explain(fleet, compiled, excluded);
  if (total === 0) {
    return {
      code: 'NO_CAPABLE_NODE',
      message: 'No node is registered.',
      hint: 'Start a node that connects to this scheduler; the README shows how.',
      reasons,
      mainReason: 'no_nodes',
      isWaitUseful: false,
    };
  }
  const mainReason = cause?.reason ?? 'reserve_denied';
  const stage = stageOf(mainReason);
  const hint = hintOf(mainReason, need);
  const judged = { hint, reasons, mainReason, cause };
  const count = cause?.count ?? eligible;
  const who = `${count} of ${total} registered ${total === 1 ? 'node' : 'nodes'}`;
  const is = `${count === 1 ? 'is' : 'are'} ${CAUSES[mainReason].is(need)}`;
  const what = describeNeed(need);
  if (stage === 'can') {
    const message = `No node supports ${what}: ${count === total ? '' : 'the closest '}${who} ${is}.`;
    return { ...judged, code: 'NO_CAPABLE_NODE', message, isWaitUseful: false };
  }
  const code = 'ALL_CANDIDATES_FULL_OR_FAILED';
  const where = describeConfinement(compiled);
  if (stage === 'may') {
    const message =
      mainReason === 'not_in_pool' && where !== ''
        ? `No node may take ${what}${where}; ${who} could otherwise.`
        : `No node may take ${what}: ${who} could, but ${is}.`;
    return { ...judged, code, message, isWaitUseful: false };
  }
  const message = `No node is free for ${what}${where}: ${who} could take it, but ${is}.`;
  const marked = markedOut(fleet, compiled, excluded);
  if (marked === undefined) return { ...judged, code, message, isWaitUseful: true };
  return {
    ...judged,
    code,
    message: `${message} ${describeMarkedOut(marked)}.`,
    isWaitUseful: true,
    isMarkedOut: true,
  };
}

/** The same stages for the only node that the job may use. */
function refusalOfStrict(
  fleet: FleetView,
  compiled: CompiledNeed,
  excluded: ReadonlySet<NodeId>,
  nodeId: NodeId,
): Refusal {
  const forbids = 'and options.strict forbids another';
  const against = failures(fleet, compiled, nodeId);
  // A tenant must not learn which node ids of another tenant exist.
  if (against === undefined || against.includes('not_in_public_pool')) {
    return {
      code: 'PREFERRED_NODE_NOT_CAPABLE',
      message: `node ${nodeId} is not registered, ${forbids}`,
      reasons: [],
      mainReason: 'not_registered',
      isWaitUseful: false,
    };
  }
  const mainReason = against[0] ?? (excluded.has(nodeId) ? 'excluded' : 'reserve_denied');
  const cause = { reason: mainReason, count: 1, sampleNodeIds: [nodeId] };
  const judged = { reasons: [cause], mainReason, cause };
  const where = mainReason === 'not_in_pool' ? describeConfinement(compiled) : '';
  const is = where === '' ? `is ${CAUSES[mainReason].is(compiled.need)}` : `cannot take this job${where}`;
  const message = `node ${nodeId} ${is}, ${forbids}`;
  const stage = stageOf(mainReason);
  if (stage === 'can' || stage === 'may') {
    return { ...judged, code: 'PREFERRED_NODE_NOT_CAPABLE', message, isWaitUseful: false };
  }
  const services = fleet.view(nodeId)?.markedServices ?? [];
  const isMarkedOut = against.length === 1 && mainReason === 'model_not_available' && services.length > 0;
  const marked = isMarkedOut ? `; ${describeMarkedOut({ count: 1, services })}` : '';
  return {
    ...judged,
    code: 'ALL_CANDIDATES_FULL_OR_FAILED',
    message: `${message}${marked}`,
    hint: 'Try again later, set wait_ms, or omit options.strict to allow other nodes.',
    isWaitUseful: true,
    ...(isMarkedOut && { isMarkedOut }),
  };
}
