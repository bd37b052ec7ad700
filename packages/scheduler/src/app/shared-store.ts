/**
 * Composition root: what instances have in common, as one of them uses it and whatever it is kept in. Beyond the ports it says what
 * only a store of many can do: jobs that change their driver, writes that a failover loses, parts of it that do not answer.
 */
import type { JobAssign } from '@lingua/protocol';
import type { Affected } from '../cluster/recovery/failover-replay.ts';
import type { TakeoverStore } from '../cluster/recovery/takeover.ts';
import type { JobId, NodeId } from '../domain/ids.ts';
import type { JobRecord } from '../domain/job.ts';
import type { LeaseId, Load } from '../domain/lease.ts';
import type { CapacityLedger } from '../ports/capacity-ledger.ts';
import type { DeadLetters } from '../ports/dead-letters.ts';
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
import type { SessionStore } from '../ports/session-store.ts';
import type { StatsStore } from '../ports/stats-store.ts';

export interface SharedLedger extends CapacityLedger {
  /**
   * Writes a lease again that its holder knows to exist, whether it fits or not. `isTaken`: its node has the job, so that its reports
   * can prove it gone. Undefined: the node is unknown.
   */
  reassert(nodeId: NodeId, lease: LeaseId, ttlMs: number, isTaken?: boolean): Promise<Load | undefined>;
}

export interface SharedJobStore extends JobStore, TakeoverStore {
  readonly restore: NonNullable<JobStore['restore']>;
  /** Who drives the job, or drove it when it was settled. */
  driverOf(jobId: JobId): Promise<{ readonly driver: string; readonly isSettled: boolean } | undefined>;
  /** From now on moves of the job are told to this instance. Its record, unless it is unknown or still that revision. */
  watch(jobId: JobId, revision: number): Promise<{ record: JobRecord; revision: number } | undefined>;
  /** Who watched the job when it became this record, which must be the very object that a move gave out. */
  watchersOf(record: JobRecord): readonly string[];
  /** Admitted or taken over here, by this incarnation, and not known to have ended. */
  drives(jobId: JobId): boolean;
  /** How full it is, as this instance counts. */
  levels(): { readonly bindings: number; readonly retained: number; readonly retainedBytes: number };
  /** Writes the index changes that are still waiting. */
  close(): Promise<void>;
}

/** Whose jobs they are. */
export interface JobStoreUser {
  readonly instanceId: string;
  /** "instance/incarnation". Asked every time: who was taken for dead goes on as another incarnation. */
  readonly driver: () => string;
  /** As job ids are made with. */
  readonly digest: (text: string) => string;
  /** The speech of a result was too long to be kept with it. */
  readonly onAudioDropped: () => void;
}

export interface StoreWatch {
  /** All of it answered when last asked. */
  isWell(): boolean;
  close(): void;
}

export interface SharedStore {
  readonly mode: 'single' | 'sentinel' | 'cluster';
  readonly instances: Instances;
  readonly inbox: Inbox;
  /** The reader hangs on a server that does not answer. */
  replaceReader(): void;
  /** Says anew which schema its keys have, after it was emptied. */
  mark(): Promise<void>;
  /** What its operators should know, as last seen. */
  readonly warnings: readonly string[];
  /** So many of its servers are set up as no instance would start on them. */
  unfitServers(): number;
  /** What was asked of it since the last look. */
  commands(): readonly { readonly op: string; readonly result: 'ok' | 'err'; readonly count: number }[];
  readonly hintBus: HintBus;
  readonly nodeRecords: NodeRecords;
  readonly ledger: SharedLedger;
  readonly nodeIdClaims: NodeIdClaims;
  readonly mailbox: NodeMailbox<JobAssign>;
  readonly sessions: SessionStore;
  readonly deadLetters: DeadLetters;
  readonly figures: InstanceFigures;
  readonly statsStore: StatsStore;
  readonly locks: Locks;
  readonly modelDebounce: Locks;
  jobs(by: JobStoreUser): SharedJobStore;
  /** `local`: tells the waiters of this process, and bounds them. */
  events(by: {
    readonly instanceId: string;
    readonly local: JobEvents;
    readonly store: Pick<SharedJobStore, 'watch' | 'watchersOf' | 'drives'>;
  }): JobEvents & { close(): Promise<void> };
  /** Tells when a part of it may have lost writes, and when all of it answers again. */
  watch(instanceId: string, on: { changed(affected: Affected): void; returned(): void }): StoreWatch;
  /** A Cluster is there as long as any of it is: what lives on a lost shard is refused by itself. */
  isReachable(): boolean;
  close(): void;
}
