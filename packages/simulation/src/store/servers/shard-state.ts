/** Simulation: everything that one shard stores. Plain values, so that all of it can be copied: a replica is a copy that lags. */
import { copyStoredLog, type StoredLog } from '../../../../scheduler/dist/adapters/memory/stored-log.js';
import {
  copyTenantUsage,
  type TenantUsage,
} from '../../../../scheduler/dist/adapters/memory/tenant-usage.js';
import type { JobId, NodeId, SessionId, TenantId } from '../../../../scheduler/dist/domain/ids.js';
import type { JobRecord } from '../../../../scheduler/dist/domain/job.js';
import type { LeaseId } from '../../../../scheduler/dist/domain/lease.js';
import type { NodeOrders } from '../../../../scheduler/dist/domain/node.js';
import type { RoomId, RoomRecord } from '../../../../scheduler/dist/domain/room.js';
import type { Instance } from '../../../../scheduler/dist/ports/instances.js';
import type { NodeRecord } from '../../../../scheduler/dist/ports/node-records.js';
import type { SavedSession } from '../../../../scheduler/dist/ports/session-store.js';
import { createShelf, type Shelf } from './shelf.ts';

/** Never changed in place. */
export interface StoredJob {
  readonly record: JobRecord;
  /** Entries of its timeline ever written. */
  readonly revision: number;
  readonly driver: string;
  readonly watchers: readonly string[];
  readonly isSettled: boolean;
  /** Absent while the job is live: then its request is bound to it. */
  readonly boundUntil: number | undefined;
}

/** Capacity and claim of a node; either may be absent. */
export interface StoredNode {
  capacity:
    | { slots: number; isAccepting: boolean; reported: number; released: number; claim: number }
    | undefined;
  credential: string | undefined;
  generation: number | undefined;
  orders: NodeOrders | undefined;
}

export interface LeaseMarks {
  /** Since when. */
  readonly abandoned: Map<LeaseId, number>;
  /** Held at the last report. */
  readonly reported: Set<LeaseId>;
  /** Since when. */
  readonly committed: Map<LeaseId, number>;
}

export interface StoredMessage {
  readonly body: string;
  deliveries: number;
  deliveredAt: number;
}

export interface Stream<T> {
  readonly entries: Map<string, T>;
  lastMs: number;
  lastNumber: number;
}

export interface StoredInbox extends Stream<StoredMessage> {
  /** Ids of messages that were never handed out, in order. */
  readonly fresh: Set<string>;
  /** Handed out and not confirmed, in the order of the messages. */
  readonly delivered: Set<string>;
}

export interface BuriedMessage {
  readonly body: string;
  readonly deliveries: number;
  readonly tenantId: TenantId | undefined;
}

export interface StoredNodeRecord {
  readonly generation: number;
  readonly version: number;
  /** Undefined: withdrawn. */
  readonly record: NodeRecord | undefined;
}

export interface WaitingEntry {
  readonly turn: number;
  readonly expiresAt: number;
  readonly body: unknown;
}

export interface StoredPresence {
  /** Undefined: declared dead. */
  readonly about: Instance | undefined;
  /** It left by itself. */
  readonly hasLeft?: boolean | undefined;
}

export interface ShardState {
  readonly jobs: Shelf<StoredJob>;
  readonly earlierJobs: Shelf<StoredJob>;
  readonly nodes: Shelf<StoredNode>;
  readonly leases: Shelf<Map<LeaseId, number>>;
  readonly marks: Shelf<LeaseMarks>;
  readonly records: Shelf<StoredNodeRecord>;
  /** When each node was last seen. */
  readonly nodePresence: Shelf<number>;
  readonly mailboxes: Shelf<Map<JobId, WaitingEntry>>;
  readonly sessions: Shelf<{ readonly owner: string; readonly state: SavedSession }>;
  readonly presence: Shelf<StoredPresence>;
  readonly inboxes: Shelf<StoredInbox>;
  readonly deadLetters: Shelf<Stream<BuriedMessage>>;
  /** Jobs of each instance → deadline. */
  readonly driven: Shelf<Map<JobId, number>>;
  readonly settled: Shelf<Map<JobId, number>>;
  readonly usage: Shelf<TenantUsage>;
  readonly roomLogs: Shelf<StoredLog>;
  readonly roomRecords: Shelf<RoomRecord>;
  /** Codes of each tenant. */
  readonly roomCodes: Shelf<Map<string, { readonly roomId: RoomId; readonly until: number }>>;
  /** Sets of names with a number each: all instances, parts of the index of nodes, orphans, tenants, followers. */
  readonly names: Shelf<Map<string, number>>;
  /** Texts, figures and locks. */
  readonly values: Shelf<unknown>;
}

export type { NodeId, SessionId };

const copyMap = <K, V>(map: Map<K, V>): Map<K, V> => new Map(map);

export function createShardState(): ShardState {
  return {
    jobs: createShelf(),
    earlierJobs: createShelf(),
    nodes: createShelf<StoredNode>(({ capacity, ...claim }) => ({
      ...claim,
      capacity: capacity && { ...capacity },
    })),
    leases: createShelf(copyMap),
    marks: createShelf<LeaseMarks>(({ abandoned, reported, committed }) => ({
      abandoned: new Map(abandoned),
      reported: new Set(reported),
      committed: new Map(committed),
    })),
    records: createShelf(),
    nodePresence: createShelf(),
    mailboxes: createShelf(copyMap),
    sessions: createShelf(),
    presence: createShelf(),
    inboxes: createShelf(copyInbox),
    deadLetters: createShelf<Stream<BuriedMessage>>((stream) => ({
      ...stream,
      entries: new Map(stream.entries),
    })),
    driven: createShelf(copyMap),
    settled: createShelf(copyMap),
    usage: createShelf(copyTenantUsage),
    roomLogs: createShelf(copyStoredLog),
    roomRecords: createShelf(),
    roomCodes: createShelf(copyMap),
    names: createShelf(copyMap),
    values: createShelf(),
  };
}

const copyInbox = (inbox: StoredInbox): StoredInbox => ({
  ...inbox,
  entries: new Map([...inbox.entries].map(([id, message]) => [id, { ...message }])),
  fresh: new Set(inbox.fresh),
  delivered: new Set(inbox.delivered),
});

/** A copy that later changes of the original do not affect. */
export const copyState = (state: ShardState): ShardState =>
  Object.fromEntries(
    Object.entries(state).map(([name, shelf]: [string, Shelf<unknown>]) => [name, shelf.copy()]),
  ) as unknown as ShardState;

export function sweepState(state: ShardState, now: number): void {
  for (const shelf of Object.values(state) as Shelf<unknown>[]) shelf.sweep(now);
}

/** The id of the next entry: by time, and by number within it. */
export function nextId(stream: Stream<unknown>, now: number): string {
  stream.lastNumber = now > stream.lastMs ? 0 : stream.lastNumber + 1;
  stream.lastMs = Math.max(now, stream.lastMs);
  return `${stream.lastMs}-${stream.lastNumber}`;
}
