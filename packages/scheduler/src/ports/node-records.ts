/**
 * Port: the node records that instances share.
 *
 * The law: a node record is identified by (generation, version), and only a later one replaces it, in whatever order, however late or often
 * records arrive. One instance at a time posts a generation: the holder of the node; its versions grow. A node is present for `ttlMs` after it
 * was last posted or seen, by the store's clock, and older information about its presence changes nothing. A record outlives the presence,
 * so that a node without heartbeats (`expired`) differs from a removed one (`withdrawn`) and from one that the store has lost (`absent`). A
 * withdrawn generation stays withdrawn for at least a minute, whatever arrives of it. Pages contain every id that stays listed during a
 * whole scan, some perhaps twice and some without a record. Notices may be lost, repeated and out of order, and the sender gets its own:
 * they only name the record to read. A thrown error means *unknown*; every call may be repeated with the same effect.
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
  /** The instance that holds the node; only this instance can reach the node's socket. */
  readonly holder: InstanceName;
  readonly channel: NodeChannel;
  /** Where jobs are posted, for channel `endpoint`. */
  readonly endpoint?: string;
  readonly view: NodeView;
  /** The credential that registered the node; requests for the node need the same one. */
  readonly credential: string;
  /** The jobs that were running on the node when this connection began, if the node reported them. */
  readonly runningJobIds?: readonly string[];
  /** The heartbeat interval that the node was sent. */
  readonly intervalMs: number;
  readonly region?: string;
  readonly zone?: string;
  readonly platform?: string;
  /** Of the node program. */
  readonly programVersion?: string;
}

/** `stale`: the store has a later record, with this generation and version. */
export type Stale = { readonly kind: 'stale'; readonly generation: number; readonly version: number };

export type RecordStatus =
  | {
      readonly kind: 'present';
      readonly generation: number;
      readonly version: number;
      /** Undefined: the caller has this version already. */
      readonly record: NodeRecord | undefined;
      /** Time of the node's last message, by the clock of its holder. */
      readonly seenAt: number;
      /** How long the node stays present without another message. */
      readonly presentForMs: number;
    }
  | { readonly kind: 'expired' | 'withdrawn'; readonly generation: number }
  | { readonly kind: 'absent' }
  /** The shard that has the record did not answer. */
  | { readonly kind: 'unknown' };

export interface NodePage {
  readonly nodeIds: readonly NodeId[];
  /** Where the next page begins; undefined: this was the last page of the scan. */
  readonly cursor: string | undefined;
  /** False: the shard with this page did not answer and was skipped. */
  readonly isWhole: boolean;
}

export interface NodeRecords {
  /** Also makes the node present. `already`: the store has this version. */
  post(record: NodeRecord, ttlMs: number): Promise<{ readonly kind: 'posted' | 'already' } | Stale>;
  /** The node sent a message at `at`. `missing`: the store has no record or an earlier one; nothing is changed, and the caller must post it. */
  seen(
    record: RecordVersion,
    ttlMs: number,
    at: number,
  ): Promise<{ readonly kind: 'seen' | 'missing' } | Stale>;
  withdraw(nodeId: NodeId, generation: number): Promise<{ readonly kind: 'withdrawn' } | Stale>;
  /** Keeps ids listed, which otherwise expire after a while. A first post lists its id, too. */
  enlist(nodeIds: readonly NodeId[]): Promise<void>;
  /** One status for each id. The record itself is left out if the caller passes its current `generation` and `version`. */
  read(
    nodes: readonly (Pick<RecordVersion, 'nodeId'> & Partial<RecordVersion>)[],
  ): Promise<ReadonlyMap<NodeId, RecordStatus>>;
  /** Some of all listed ids, at most `max`; without a cursor a new scan begins. */
  page(cursor: string | undefined, max: number): Promise<NodePage>;
  /** Resolves when the subscription is active, with a function that ends it. Changes in quick succession arrive as one call. */
  subscribe(listen: (notices: readonly RecordVersion[]) => void): Promise<() => Promise<void>>;
}

/** Later than every version of its generation, so that every record of this generation is refused. */
export const WITHDRAWN_VERSION = Number.MAX_SAFE_INTEGER;

/** Whether the first comes after the second. */
export const isLater = (
  one: { readonly generation: number; readonly version: number },
  other: { readonly generation: number; readonly version: number },
): boolean =>
  one.generation > other.generation || (one.generation === other.generation && one.version > other.version);
