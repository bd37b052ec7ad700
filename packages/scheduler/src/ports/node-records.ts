/**
 * Port: the node records that instances share.
 *
 * The law: a node record is identified by (generation, version), and only a later one replaces it, in whatever order, however late or often
 * they arrive. One instance at a time posts a generation: the holder of the node; its versions grow. A node is present for `ttlMs` after it
 * was last posted or seen, by the store's clock, and older information about its presence changes nothing. A record outlives the presence,
 * so that a node without heartbeats (`expired`) differs from a removed one (`withdrawn`) and from one that the store has lost (`absent`). A
 * withdrawn generation stays withdrawn for at least a minute, whatever arrives of it. Pages contain every id that stays listed during a
 * whole round, some perhaps twice and some without a record. Notices may be lost, repeated and out of order, and the sender gets its own:
 * they only say which record to read. A thrown error means *unknown*; every call may be repeated with the same effect.
 */
import type { NodeId } from '../domain/ids.ts';
import type { NodeChannel, NodeView } from '../domain/node.ts';
import type { InstanceName } from './instances.ts';

export interface RecordVersion {
  readonly nodeId: NodeId;
  readonly generation: number;
  readonly version: number;
}

export interface NodeRecord extends RecordVersion {
  /** Who holds the node: for a socket, the only one that reaches it. */
  readonly owner: InstanceName;
  readonly channel: NodeChannel;
  /** Where jobs are posted, for channel `endpoint`. */
  readonly endpoint?: string;
  readonly view: NodeView;
  /** Who registered it; nobody else may speak for it. */
  readonly credential: string;
  /** False: its socket is gone. A node without one has no connection to lose. */
  readonly isConnected: boolean;
  /** What it still worked on when this connection began, if it said so. */
  readonly runningJobIds?: readonly string[];
  /** How often the node was told to beat. */
  readonly intervalMs: number;
  readonly region?: string;
}

/** `stale`: the board knows a later one, which is this. */
export type Stale = { readonly kind: 'stale'; readonly generation: number; readonly version: number };

export type RecordStatus =
  | {
      readonly kind: 'present';
      readonly generation: number;
      readonly version: number;
      /** Undefined: it is the one the asker knows. */
      readonly record: NodeRecord | undefined;
      /** When the node was last heard of, by the clock of whoever heard it. */
      readonly seenAt: number;
      /** How long it stays present unless it is seen again. */
      readonly presentForMs: number;
    }
  | { readonly kind: 'expired' | 'withdrawn'; readonly generation: number }
  | { readonly kind: 'absent' }
  /** The part of the store that knows did not answer. */
  | { readonly kind: 'unknown' };

export interface NodePage {
  readonly nodeIds: readonly NodeId[];
  /** Where to go on; undefined: this was the last page of the round. */
  readonly cursor: string | undefined;
  /** False: the part of the store with this page did not answer and was passed over. */
  readonly isWhole: boolean;
}

export interface NodeRecords {
  /** Makes the node present too. `already`: it is the one that is known. */
  post(record: NodeRecord, ttlMs: number): Promise<{ readonly kind: 'posted' | 'already' } | Stale>;
  /** The node was heard of at `at`. `missing`: the node record is not there, or an earlier one is; nothing is changed, it must be posted. */
  seen(
    record: RecordVersion,
    ttlMs: number,
    at: number,
  ): Promise<{ readonly kind: 'seen' | 'missing' } | Stale>;
  withdraw(nodeId: NodeId, generation: number): Promise<{ readonly kind: 'withdrawn' } | Stale>;
  /** Keeps ids listed, which are forgotten otherwise after a while. A first post lists its id by itself. */
  enlist(nodeIds: readonly NodeId[]): Promise<void>;
  /** One answer for each id asked for. A node record is left out if `generation` and `version` are its own. */
  read(
    asked: readonly (Pick<RecordVersion, 'nodeId'> & Partial<RecordVersion>)[],
  ): Promise<ReadonlyMap<NodeId, RecordStatus>>;
  /** Some of all listed ids, at most `max`; without a cursor a round begins. */
  page(cursor: string | undefined, max: number): Promise<NodePage>;
  /** Resolves when notices are heard, to a function that ends it. Node records that changed in quick succession are told together. */
  subscribe(listen: (notices: readonly RecordVersion[]) => void): Promise<() => Promise<void>>;
}

/** Later than every version of its generation: nothing of it is taken any more. */
export const WITHDRAWN_VERSION = Number.MAX_SAFE_INTEGER;

/** Whether the first comes after the second. */
export const isLater = (
  one: { readonly generation: number; readonly version: number },
  other: { readonly generation: number; readonly version: number },
): boolean =>
  one.generation > other.generation || (one.generation === other.generation && one.version > other.version);
