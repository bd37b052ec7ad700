/** Cold path: the state of one node, and its view for selection. About a kilobyte per node; reports are shared. */
import type {
  CapabilityReport,
  Efficiencies,
  Hardware,
  NodeTraits,
  ResourceReport,
} from '../domain/capability-report.ts';
import type { NodeId } from '../domain/ids.ts';
import type { NodeChannel, NodeOrders, NodeView } from '../domain/node.ts';
import type { NodeProfile } from '../domain/profile.ts';
import type { NodeCapacity } from '../ports/capacity-ledger.ts';
import { type EjectionState, isShutOut } from './health/ejection.ts';
import type { HealthState } from './health/health.ts';
import { isCalm } from './health/vitals.ts';
import type { Hidden } from './marks/marked-services.ts';
import type { Mark, MaybeMarks } from './marks/marks.ts';
import type { MarkedService, NodeStatus } from './node-registry.ts';
import { LEGACY_INTERVAL_MS, type ManagementSettings, type Thresholds } from './settings.ts';

/** Replaced as a whole by each registration. */
export interface NodeIdentity {
  readonly credential: string;
  readonly registeredAt: number;
  readonly traits: NodeTraits;
  readonly hardware?: Hardware;
  readonly endpoint?: string;
  readonly version?: string;
  readonly platform?: string;
  readonly region?: string;
  readonly zone?: string;
}

export interface RegisteredNode {
  readonly nodeId: NodeId;
  identity: NodeIdentity;
  generation: number;
  /** The newest generation claimed for the node: differs from `generation` if a later registration failed half-way. */
  claim: number;
  channel: NodeChannel;
  /** How the node got jobs before it opened a socket; undefined if it began with a socket. */
  homeChannel: NodeChannel | undefined;
  /** When a lost socket makes the node offline; undefined while it is connected. */
  lostUntil: number | undefined;
  report: CapabilityReport;
  profile: NodeProfile;
  slots: number;
  resources: ResourceReport;
  /** As last reported; undefined: never reported. */
  efficiencies: Efficiencies | undefined;
  health: HealthState;
  isFresh: boolean;
  isCordoned: boolean;
  /** Of the last order, until an operator uncordons the node. */
  orderReason: string | undefined;
  /** The store has the orders. */
  areOrdersKept: boolean;
  ejection: EjectionState;
  /** Services that the node reported as missing; nearly always undefined. */
  marks: MaybeMarks;
  /** Services and types that selection must not find because of the marks. */
  hidden: Hidden;
  lastReason: string | undefined;
  /** As last published to selection; undefined: not yet. */
  view: NodeView | undefined;
  /** As last declared to the ledger; undefined: unknown, to be declared again. */
  declared: NodeCapacity | undefined;
  isDeclaring: boolean;
  isLeaving: boolean;
  /** When it stops, as it has announced; undefined: it stays. */
  leavingAt: number | undefined;
  /** The node was deregistered: the scan removes it, unless it registers again. */
  isRetired: boolean;
}

export const isConnected = (node: RegisteredNode): boolean => node.lostUntil === undefined;

export const ordersOf = ({ isCordoned, health, orderReason }: RegisteredNode): NodeOrders | undefined =>
  isCordoned || health.isDrainOrdered
    ? {
        isCordoned,
        isDrained: health.isDrainOrdered,
        ...(orderReason !== undefined && { reason: orderReason }),
      }
    : undefined;

export const viewOf = (node: RegisteredNode, thresholds: Thresholds): NodeView => ({
  nodeId: node.nodeId,
  profile: node.profile,
  health: node.health.health,
  isConnected: isConnected(node),
  isFresh: node.isFresh,
  isCalm: isCalm(node.resources, thresholds),
  isQueueing: (node.resources.gpuQueueLength ?? 0) > 0,
  isCordoned: node.isCordoned,
  isEjected: isShutOut(node.ejection),
  slots: node.slots,
  lastBeatAt: node.health.lastBeatAt,
  markedServices: node.hidden.services,
  markedTypes: node.hidden.types,
  ...(node.hidden.endsAt !== undefined && { marksEndAt: node.hidden.endsAt }),
  ...(node.orderReason !== undefined && { orderReason: node.orderReason }),
  ...(node.leavingAt !== undefined && { leavingAt: node.leavingAt }),
  ...(node.identity.region !== undefined && { region: node.identity.region }),
  ...(node.identity.zone !== undefined && { zone: node.identity.zone }),
});

/** Ignores the time of the last heartbeat: it always differs, and selection uses `isFresh`. */
export const isSameView = (a: NodeView, b: NodeView): boolean =>
  a.profile === b.profile &&
  a.health === b.health &&
  a.isConnected === b.isConnected &&
  a.isFresh === b.isFresh &&
  a.isCalm === b.isCalm &&
  a.isQueueing === b.isQueueing &&
  a.isCordoned === b.isCordoned &&
  a.orderReason === b.orderReason &&
  a.isEjected === b.isEjected &&
  a.slots === b.slots &&
  a.leavingAt === b.leavingAt &&
  a.region === b.region &&
  a.zone === b.zone &&
  isSameList(a.marksEndAt ?? [], b.marksEndAt ?? []) &&
  isSameList(a.markedServices, b.markedServices) &&
  isSameList(a.markedTypes, b.markedTypes);

const isSameList = <Item>(a: readonly Item[], b: readonly Item[]): boolean =>
  a === b || (a.length === b.length && a.every((word, at) => word === b[at]));

/** Age at which the last heartbeat is stale. Legacy nodes ignore the interval that they are sent. */
export function staleAfterMs({ identity }: RegisteredNode, settings: ManagementSettings): number {
  if (settings.heartbeatStaleMs !== undefined) return settings.heartbeatStaleMs;
  const { heartbeatIntervalMs } = settings;
  const isLegacyNode = identity.traits.supports === undefined;
  return 3 * (isLegacyNode ? Math.max(heartbeatIntervalMs, LEGACY_INTERVAL_MS) : heartbeatIntervalMs);
}

/** The longest heartbeat interval to expect of any node. */
export const longestIntervalMs = ({ heartbeatStaleMs, heartbeatIntervalMs }: ManagementSettings): number =>
  heartbeatStaleMs === undefined
    ? Math.max(heartbeatIntervalMs, LEGACY_INTERVAL_MS)
    : Math.round(heartbeatStaleMs / 3);

/** Time without a heartbeat after which the node is offline: never before it is stale. */
export const offlineAfterMs = (node: RegisteredNode, settings: ManagementSettings): number =>
  Math.max(staleAfterMs(node, settings), settings.heartbeatTimeoutMs);

export function statusOf(node: RegisteredNode, settings: ManagementSettings): NodeStatus {
  const { endpoint, version, platform, region, zone, registeredAt } = node.identity;
  return {
    view: viewOf(node, settings.thresholds),
    credential: node.identity.credential,
    generation: node.generation,
    channel: node.channel,
    intervalMs: Math.round(staleAfterMs(node, settings) / 3),
    registeredAt,
    resources: node.resources,
    ...(node.report.languages !== undefined && { languages: node.report.languages }),
    ...(node.report.types !== undefined && { types: node.report.types }),
    ...(endpoint !== undefined && { endpoint }),
    ...(version !== undefined && { version }),
    ...(platform !== undefined && { platform }),
    ...(region !== undefined && { region }),
    ...(zone !== undefined && { zone }),
    ...(node.lastReason !== undefined && { lastReason: node.lastReason }),
    ...(node.marks !== undefined && { marks: [...node.marks].map(markedService) }),
  };
}

/** A probation has no end. */
const markedService = ([serviceId, { phase, until }]: readonly [string, Mark]): MarkedService =>
  Number.isFinite(until) ? { serviceId, phase, until } : { serviceId, phase };
