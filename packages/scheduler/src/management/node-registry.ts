/** Cold path: what the rest of the program may ask of the node registry. */
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
import type { NodeChannel, NodeHealth, NodeView } from '../domain/node.ts';
import type { NodeProfile } from '../domain/profile.ts';
import type { ServiceUse } from '../domain/service-use.ts';

export interface Registration {
  /** Absent: the scheduler makes one. */
  readonly nodeId?: NodeId;
  /** Whose the id is: a digest of the token, or of the peer for anonymous nodes. Another credential cannot take the id. */
  readonly credential: string;
  readonly channel: NodeChannel;
  /** Where jobs are posted, for channel `endpoint`. */
  readonly endpoint?: string;
  readonly schemaVersion?: string;
  readonly version?: string;
  readonly platform?: string;
  readonly hardware?: Hardware;
  readonly traits: NodeTraits;
  readonly report: CapabilityReport;
  /** Absent: scheduler.max_concurrent_jobs_per_node. */
  readonly slots?: number;
  /** The node's own word (HTTP nodes): `ready` needs no first heartbeat. */
  readonly health?: 'ready' | 'degraded' | 'draining';
  readonly resources?: ResourceReport;
  readonly runningJobIds?: readonly string[];
  readonly region?: string;
  readonly zone?: string;
}

export type RegisterOutcome =
  | {
      readonly kind: 'registered';
      /** May differ from the one asked for: a real conflict gets a fresh id, which nodes adopt. */
      readonly nodeId: NodeId;
      readonly generation: number;
      readonly health: NodeHealth;
      /** Jittered, so that a fleet does not beat in step. */
      readonly heartbeatIntervalMs: number;
      readonly isReturning: boolean;
    }
  | { readonly kind: 'refused'; readonly code: ErrorCode; readonly message: string };

export interface Heartbeat {
  readonly nodeId: NodeId;
  /** The connection it came over; HTTP heartbeats have none. */
  readonly generation?: number;
  readonly resources: ResourceReport;
  /** Only the parts that were sent; absent parts keep their last value. */
  readonly report?: Partial<CapabilityReport>;
  readonly slots?: number;
  readonly health?: 'ready' | 'degraded' | 'draining';
  readonly runningJobIds?: readonly string[];
  /** Absent: nothing worked since the last one. */
  readonly efficiencies?: Efficiencies;
}

export type HeartbeatOutcome =
  | { readonly kind: 'beat'; readonly health: NodeHealth }
  /** Not registered (legacy nodes may beat first after a reconnect), or an old connection. */
  | { readonly kind: 'unknown_node' | 'stale_generation' };

/** A node as statistics count it. Read at once: it changes with the node. */
export interface CountedNode {
  readonly nodeId: NodeId;
  readonly report: Pick<CapabilityReport, 'models' | 'serviceStates'>;
  readonly profile: Pick<NodeProfile, 'readyServices' | 'readyTypes'>;
  readonly resources: ResourceReport;
  readonly identity: { readonly hardware?: Hardware };
  readonly efficiencies: Efficiencies | undefined;
}

/** What an operator sees. */
export interface NodeStatus {
  readonly view: NodeView;
  /** Who registered it; nobody else may speak for it. */
  readonly credential: string;
  readonly generation: number;
  readonly channel: NodeChannel;
  /** Where jobs are posted, for channel `endpoint`. */
  readonly endpoint?: string;
  /** False: its socket is gone. A node without one has no connection to lose. */
  readonly isConnected: boolean;
  /** How often it beats, as far as anybody should expect. */
  readonly intervalMs: number;
  readonly registeredAt: number;
  readonly resources: ResourceReport;
  /** As it last named them; absent if it never did. */
  readonly languages?: ReportedLanguages;
  readonly version?: string;
  readonly platform?: string;
  readonly region?: string;
  readonly zone?: string;
  readonly lastReason?: string;
}

/** How an attempt ended. `unproven`: it says nothing of the node; but it was a probe, if one was due, and is none any more. */
export type NodeOutcome = 'succeeded' | 'failed' | 'unproven';

/** `known`: it was marked a moment ago. `marks_full`: this instance knows as many marks as it may. */
export type MarkResult = 'marked' | 'known' | 'marks_full' | 'unknown_node';

/** Told to whoever composes the program; all optional parts of one act are delivered in order. */
export interface RegistryEvents {
  /** Selection's view of the node changed. Not called for load alone. */
  changed(view: NodeView): void;
  /** The ledger answered with the node's load. */
  loaded(nodeId: NodeId, load: Load): void;
  removed(nodeId: NodeId, generation: number): void;
  /** To be pushed to the node. */
  statusChanged(nodeId: NodeId, health: NodeHealth, reason: string): void;
  /** An operator wants the node to finish and take nothing new, or takes that back. To be told to nodes that understand it. */
  ordered(nodeId: NodeId, order: 'drain' | 'resume'): void;
  /** The connection is gone; its jobs are retried after `graceMs`. */
  disconnected(nodeId: NodeId, graceMs: number): void;
  /** The node is (back) here; `runningJobIds` is what it still works on, if it said so. */
  connected(nodeId: NodeId, runningJobIds: readonly string[] | undefined): void;
}

export interface NodeRegistry {
  register(registration: Registration): Promise<RegisterOutcome>;
  heartbeat(beat: Heartbeat): Promise<HeartbeatOutcome>;
  /** Only the close of the current generation counts. */
  disconnected(nodeId: NodeId, generation: number): void;
  /** An operator's order. Answers false for an unknown node. */
  control(nodeId: NodeId, command: 'cordon' | 'uncordon' | 'drain'): Promise<boolean>;
  /** A job was placed on the node: a node on probation gets no second one before the outcome of this one. */
  recordPlacement(nodeId: NodeId, use: ServiceUse): void;
  recordOutcome(nodeId: NodeId, outcome: NodeOutcome, use: ServiceUse): void;
  /** The node said that it lacks a service: for a while it gets no jobs that need it. */
  markMissing(nodeId: NodeId, serviceId: string): MarkResult;
  /** It lives on another instance since, under that generation: it is not this one's any more. */
  overtaken(nodeId: NodeId, generation: number): void;
  /** The ledger may have lost what it was told: it is told again. */
  redeclare(): void;
  get(nodeId: NodeId): NodeStatus | undefined;
  list(page: { limit: number; cursor?: string }): { nodes: readonly NodeStatus[]; cursor?: string };
  /** Those that are online, for whoever counts them; may be read with pauses, while nodes come and go. */
  census(): Iterator<CountedNode>;
  /** How many this instance holds that are not offline, whatever they speak. Costs nothing. */
  online(): number;
  /** Prints how many nodes there are, by health. */
  measure(): void;
  /** Ends timers. */
  stop(): void;
}
