/** Failure path: why no node can take the job, with a code of the error table. Pure. */
import type { ErrorCode } from '../../domain/errors.ts';
import type { NodeId } from '../../domain/ids.ts';
import { ANY } from '../../domain/language.ts';
import type { Need, RejectionCount } from '../../domain/need.ts';
import type { FleetView } from '../fleet/fleet-view.ts';
import { describeConfinement } from '../pools/describe-confinement.ts';
import type { CompiledNeed } from '../select/compile-need.ts';
import { explain, failures } from '../select/explain.ts';
import { describeMarkedOut, markedOut } from '../select/marked-out.ts';

export interface Refusal {
  readonly code: ErrorCode;
  readonly message: string;
  readonly reasons: readonly RejectionCount[];
  /** The reason that excluded most nodes. */
  readonly mainReason: string;
  /** Waiting could help: a node has the languages and services. */
  readonly isCapable: boolean;
  /** Only marks exclude a free node. */
  readonly isMarkedOut?: boolean;
}

export function refusal(fleet: FleetView, compiled: CompiledNeed, excluded: ReadonlySet<NodeId>): Refusal {
  const { isCapable, total, reasons } = explain(fleet, compiled, excluded);
  const { need } = compiled;
  const where = describeConfinement(compiled);
  const mainReason = reasons.reduce((most, next) => (next.count > most.count ? next : most), NO_NODES).reason;
  if (need.isStrict && need.preferredNodeId !== undefined) {
    const against = failures(fleet, compiled, need.preferredNodeId);
    const cannot = against.includes('not_in_pool') ? `cannot take this job${where}` : 'cannot take this job';
    const what = fleet.has(need.preferredNodeId) ? cannot : 'is not registered';
    const message = `node ${need.preferredNodeId} ${what}, and options.strict forbids another`;
    const refused = { code: 'PREFERRED_NODE_NOT_CAPABLE', reasons, mainReason, isCapable: false } as const;
    const isOnlyLacking = against.length === 1 && against[0] === 'model_not_available';
    const services = (isOnlyLacking && fleet.view(need.preferredNodeId)?.markedServices) || NOTHING;
    if (services.length === 0) return { ...refused, message };
    const words = describeMarkedOut({ count: 1, services });
    return {
      ...refused,
      message: `${message}; ${words}`,
      mainReason: 'model_not_available',
      isMarkedOut: true,
    };
  }
  if (!isCapable) {
    return {
      code: 'NO_CAPABLE_NODE',
      message: `No node supports ${describeNeed(need)}${where}.`,
      reasons,
      mainReason,
      isCapable,
    };
  }
  const code = 'ALL_CANDIDATES_FULL_OR_FAILED';
  const message = `No node is free for ${describeNeed(need)}${where} (${total} registered).`;
  const marked = markedOut(fleet, compiled, excluded);
  if (marked === undefined) return { code, message, reasons, mainReason, isCapable };
  // However many were busy: the marks excluded the last free ones.
  return {
    code,
    message: `${message} ${describeMarkedOut(marked)}.`,
    reasons,
    mainReason: 'model_not_available',
    isCapable,
    isMarkedOut: true,
  };
}

const NOTHING: readonly string[] = [];
const NO_NODES: { reason: string; count: number } = { reason: 'no_nodes', count: 0 };

/** For messages: semantic(en) + nmt(en->zh). */
function describeNeed(need: Need): string {
  const parts = need.directions.flatMap(({ source, target }) => [
    ...(source === ANY ? [] : [`semantic(${source})`]),
    ...(need.usesNmt ? [`nmt(${source}->${target})`] : []),
    ...(need.usesTts ? [`tts(${target})`] : []),
  ]);
  return [...new Set([...parts, ...need.types, ...need.services, ...(need.features ?? [])])].join(' + ');
}
