/**
 * Composition root: the store that instances share, on Redis or simulated. Beyond the ports it has what only a shared store needs: jobs that
 * change their driver, writes that a failover may lose, and shards that do not answer.
 */
import type { JobAssign, JobCancel } from '@lingua/protocol';
import type { Affected } from '../cluster/recovery/failover-replay.ts';
import type { TakeoverStore } from '../cluster/recovery/takeover.ts';
import type { JobId, NodeId } from '../domain/ids.ts';
import type { JobRecord } from '../domain/job.ts';
import type { LeaseId, Load } from '../domain/lease.ts';
import type { UsageSink } from '../domain/usage.ts';
import type { CapacityLedger } from '../ports/capacity-ledger.ts';
import type { DeadLetters } from '../ports/dead-letters.ts';
import type { GlossaryStore } from '../ports/glossary-store.ts';
import type { HintBus } from '../ports/hint-bus.ts';
import type { Inbox } from '../ports/inbox.ts';
import type { InstanceFigures } from '../ports/instance-figures.ts';
import type { Instances } from '../ports/instances.ts';
import type { JobEvents } from '../ports/job-events.ts';
import type { JobStore } from '../ports/job-store.ts';
import type { Locks } from '../ports/locks.ts';
import type { NodeIdClaims } from '../ports/node-id-claims.ts';
import type { NodeMailbox } from '../ports/node-mailbox.ts';
import type { NodeRecords } from '../ports/node-records.ts';
import type { RoomFollowers } from '../ports/room-followers.ts';
import type { RoomLog, RoomLogLimits } from '../ports/room-log.ts';
import type { RoomRecords } from '../ports/room-records.ts';
import type { SessionStore } from '../ports/session-store.ts';
import type { StatsStore } from '../ports/stats-store.ts';
import type { UsageStore } from '../ports/usage-store.ts';

export interface SharedLedger extends CapacityLedger {
  /**
   * Writes a lease again that its holder knows to exist, whether it fits or not. `isTaken`: its node has the job, so that its reports
   * can prove it gone. Undefined: the node is unknown.
   */
  reassert(nodeId: NodeId, lease: LeaseId, ttlMs: number, isTaken?: boolean): Promise<Load | undefined>;
}

export interface SharedJobStore extends JobStore, TakeoverStore {
  readonly restore: NonNullable<JobStore['restore']>;
  /** The driver of the job, or its last driver if the job is settled. */
  driverOf(jobId: JobId): Promise<{ readonly driver: string; readonly isSettled: boolean } | undefined>;
  /** From now on this instance gets the moves of the job. Returns its record, unless it is unknown or has still that revision. */
  watch(jobId: JobId, revision: number): Promise<{ record: JobRecord; revision: number } | undefined>;
  /** The instances that watched the job at this move. `record` must be the object that the move returned. */
  watchersOf(record: JobRecord): readonly string[];
  /** This incarnation admitted the job or took it over, and does not know that it ended. */
  drives(jobId: JobId): boolean;
  /** Its sizes, as this instance counts them. */
  levels(): { readonly bindings: number; readonly retained: number; readonly retainedBytes: number };
  /** Writes the index changes that are still waiting. */
  close(): Promise<void>;
}

/** The instance that uses the job store. */
export interface JobStoreUser {
  readonly instanceId: string;
  /** "instance/incarnation". Called every time: after a declared death the instance has another incarnation. */
  readonly driver: () => string;
  /** The digest that job ids are made with. */
  readonly digest: (text: string) => string;
  /** The speech of a result was too large and was dropped. */
  readonly onAudioDropped: () => void;
  /** Absent: nothing is counted. */
  readonly usage?: UsageSink;
}

export interface RoomStores {
  readonly log: RoomLog;
  readonly followers: RoomFollowers;
  readonly records: RoomRecords;
}

export interface StoreWatch {
  /** The whole store answered the last check. */
  isWell(): boolean;
  close(): void;
}

export interface SharedStore {
  readonly mode: 'single' | 'sentinel' | 'cluster';
  readonly instances: Instances;
  readonly inbox: Inbox;
  /** The connection of the inbox reader is stuck and is replaced. */
  replaceReader(): void;
  /** Writes the schema version again after the store was emptied. */
  mark(): Promise<void>;
  /** Warnings for operators, as of the last inspection. */
  readonly warnings: readonly string[];
  /** The number of servers with settings on which no instance would start. */
  unfitServers(): number;
  /** The servers that are written to, for operators; absent: it has none. */
  masters?(): readonly { readonly address: string; readonly isOk: boolean }[];
  /** Commands since the last call. */
  commands(): readonly { readonly op: string; readonly result: 'ok' | 'err'; readonly count: number }[];
  readonly hintBus: HintBus;
  readonly nodeRecords: NodeRecords;
  readonly ledger: SharedLedger;
  readonly nodeIdClaims: NodeIdClaims;
  readonly mailbox: NodeMailbox<JobAssign | JobCancel>;
  readonly sessions: SessionStore;
  readonly deadLetters: DeadLetters;
  readonly figures: InstanceFigures;
  readonly statsStore: StatsStore;
  readonly usage: UsageStore;
  readonly glossaries: GlossaryStore;
  rooms(limits: RoomLogLimits): RoomStores;
  readonly locks: Locks;
  readonly modelDebounce: Locks;
  jobs(by: JobStoreUser): SharedJobStore;
  /** `local`: the subscribers in this process, whose number it bounds. */
  events(by: {
    readonly instanceId: string;
    readonly local: JobEvents;
    readonly store: Pick<SharedJobStore, 'watch' | 'watchersOf' | 'drives'>;
  }): JobEvents & { close(): Promise<void> };
  /** Reports when a part of the store may have lost writes, and when the whole store answers again. */
  watch(instanceId: string, on: { changed(affected: Affected): void; returned(): void }): StoreWatch;
  /** A Redis Cluster is reachable while any shard is; calls to a lost shard are refused one by one. */
  isReachable(): boolean;
  close(): void;
}
