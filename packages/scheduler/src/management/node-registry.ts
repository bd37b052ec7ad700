/** Cold path: the interface of the node registry. */
import type {
  CapabilityReport,
  Efficiencies,
  Hardware,
  NodeTraits,
  ReportedLanguages,
  ResourceReport,
} from '../domain/capability-report.ts';
import type { ErrorCode } from '../domain/errors.ts';
import type { NodeId } from '../domain/ids.ts';
import type { Load } from '../domain/lease.ts';
import type { NodeChannel, NodeHealth, NodeView, ReportedHealth } from '../domain/node.ts';
import type { NodeProfile } from '../domain/profile.ts';
import type { ServiceUse } from '../domain/service-use.ts';
import type { MarkPhase } from './marks/marks.ts';

export interface Registration {
  /** Absent: the scheduler chooses one. */
  readonly nodeId?: NodeId;
  /** Owner of the id: a digest of the token, or of the peer address for anonymous nodes. Another credential cannot take the id. */
  readonly credential: string;
  /** The node may have no other id; absent: on a conflict a node with a socket gets a fresh one. */
  readonly isIdFixed?: boolean;
  readonly channel: NodeChannel;
  /** Where jobs are posted, for channel `endpoint`. */
  readonly endpoint?: string;
  readonly schemaVersion?: string;
  readonly version?: string;
  readonly platform?: string;
  readonly hardware?: Hardware;
  readonly traits: NodeTraits;
  readonly report: CapabilityReport;
  /** Absent: scheduler.max_concurrent_jobs_per_node. Ignored if the node is a legacy one. */
  readonly slots?: number;
  /** Health that the node reports itself (HTTP nodes): `ready` needs no first heartbeat. */
  readonly health?: ReportedHealth;
  readonly resources?: ResourceReport;
  readonly runningJobIds?: readonly string[];
  readonly region?: string;
  readonly zone?: string;
}

export type RegisterOutcome =
  | {
      readonly kind: 'registered';
      /** May differ from the requested one: on a conflict the node gets a fresh id, which it adopts. */
      readonly nodeId: NodeId;
      readonly generation: number;
      readonly health: NodeHealth;
      readonly heartbeatIntervalMs: number;
      readonly isReturning: boolean;
    }
  | { readonly kind: 'refused'; readonly code: ErrorCode; readonly message: string };

export interface Heartbeat {
  readonly nodeId: NodeId;
  /** Generation of the connection; HTTP heartbeats have none. */
  readonly generation?: number;
  readonly resources: ResourceReport;
  /** Only the parts that were sent; absent parts keep their last value. */
  readonly report?: Partial<CapabilityReport>;
  readonly slots?: number;
  readonly health?: ReportedHealth;
  /** The node stops in so many milliseconds; absent: it stays. */
  readonly leavingInMs?: number;
  readonly runningJobIds?: readonly string[];
  /** Absent: no service worked since the last heartbeat. */
  readonly efficiencies?: Efficiencies;
}

export type HeartbeatOutcome =
  | { readonly kind: 'beat'; readonly health: NodeHealth }
  /** Not registered (legacy nodes may beat first after a reconnect), or an old connection. */
  | { readonly kind: 'unknown_node' | 'stale_generation' };

/** A node for statistics. Must be read at once, because it changes with the node. */
export interface CountedNode {
  readonly nodeId: NodeId;
  readonly report: Pick<CapabilityReport, 'models' | 'serviceStates'>;
  readonly profile: Pick<NodeProfile, 'readyServices' | 'readyTypes'>;
  readonly resources: ResourceReport;
  readonly identity: { readonly hardware?: Hardware };
  readonly efficiencies: Efficiencies | undefined;
}

/** A node for operators. */
export interface NodeStatus {
  readonly view: NodeView;
  /** Who registered the node; other credentials may not act for it. */
  readonly credential: string;
  readonly generation: number;
  readonly channel: NodeChannel;
  /** Where jobs are posted, for channel `endpoint`. */
  readonly endpoint?: string;
  /** The heartbeat interval to expect. */
  readonly intervalMs: number;
  readonly registeredAt: number;
  readonly resources: ResourceReport;
  /** As last reported; absent: never reported. */
  readonly languages?: ReportedLanguages;
  readonly types?: NonNullable<CapabilityReport['types']>;
  readonly version?: string;
  readonly platform?: string;
  readonly region?: string;
  readonly zone?: string;
  readonly lastReason?: string;
  /** Services that the node reported as missing; nearly always absent. */
  readonly marks?: readonly MarkedService[];
}

/** `until`: when the phase ends; absent: with the next job. */
export interface MarkedService {
  readonly serviceId: string;
  readonly phase: MarkPhase;
  readonly until?: number;
}

/** How an attempt ended. `unproven`: it proves nothing about the node, but it ends a probe. */
export type NodeOutcome = 'succeeded' | 'failed' | 'unproven';

/** `known`: it was marked a moment ago. `marks_full`: this instance is at its limit of marks. */
export type MarkResult = 'marked' | 'known' | 'marks_full' | 'unknown_node';

/** Called by the registry; the calls of one change come in order. */
export interface RegistryEvents {
  /** Selection's view of the node changed. Not called for load alone. */
  changed(view: NodeView): void;
  /** The ledger answered with the node's load. */
  loaded(nodeId: NodeId, load: Load): void;
  removed(nodeId: NodeId, generation: number): void;
  /** To be sent to the node. */
  statusChanged(nodeId: NodeId, health: NodeHealth, reason: string, from: NodeHealth): void;
  /** An operator wants the node to drain, or to resume. To be sent to nodes that support it. */
  ordered(nodeId: NodeId, order: 'drain' | 'resume'): void;
  /** The connection is gone; its jobs are retried after `graceMs`. */
  disconnected(nodeId: NodeId, graceMs: number): void;
  /** The node is connected (again); `runningJobIds` are its current jobs, if it reported them. */
  connected(nodeId: NodeId, runningJobIds: readonly string[] | undefined): void;
}

export interface NodeRegistry {
  register(registration: Registration): Promise<RegisterOutcome>;
  heartbeat(beat: Heartbeat): Promise<HeartbeatOutcome>;
  /** Only the close of the current generation counts. */
  disconnected(nodeId: NodeId, generation: number): void;
  /** A command of an operator, or of the node itself: `remove`. Returns false for an unknown node. */
  control(
    nodeId: NodeId,
    command: 'cordon' | 'uncordon' | 'drain' | 'remove',
    reason?: string,
  ): Promise<boolean>;
  /** A job was placed on the node: a node on probation gets no second one before the outcome. */
  recordPlacement(nodeId: NodeId, use: ServiceUse): void;
  recordOutcome(nodeId: NodeId, outcome: NodeOutcome, use: ServiceUse): void;
  /** The node reported that it lacks a service: for a while it gets no jobs that need it. */
  markMissing(nodeId: NodeId, serviceId: string): MarkResult;
  /** The node is connected to another instance, with that generation: this registry removes it. */
  overtaken(nodeId: NodeId, generation: number): void;
  /** The ledger may have lost the capacities of the nodes: they are declared again. */
  redeclare(): void;
  get(nodeId: NodeId): NodeStatus | undefined;
  /** By id; the cursor is the id of the last node of the page before. */
  list(page: { limit: number; cursor?: string }): { nodes: readonly NodeStatus[]; cursor?: string };
  /** All nodes that are online, for statistics. The iteration may pause while nodes come and go. */
  census(): Iterator<CountedNode>;
  /** Number of nodes of this instance that are not offline. Costs nothing. */
  online(): number;
  /** Sets the gauges of nodes by health. */
  measure(): void;
  /** Stops the timers. */
  stop(): void;
}
