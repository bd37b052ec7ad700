/**
 * Port: jobs waiting to be fetched by nodes that poll.
 *
 * The law: bounded per node; first in, first out; an entry is handed out at most once and never after its expiry;
 * a waiting `take` returns when an entry arrives, and returns no entries at its limit or when aborted. `take` commits the lease of an entry
 * in the same step: it hands out only entries whose lease is live and not abandoned (ports/capacity-ledger.ts).
 */
import type { JobId, NodeId } from '../domain/ids.ts';
import type { LeaseId } from '../domain/lease.ts';

/** The lease to commit when the entry is fetched, and for how long. */
export interface Slot {
  readonly lease: LeaseId;
  readonly ttlMs: number;
}

export interface MailboxEntry<T> {
  readonly jobId: JobId;
  readonly expiresAt: number;
  readonly body: T;
  /** "instance/incarnation" of the job's driver, for the instance that hands the entry out. Absent: a single instance. */
  readonly driver?: string;
  /** Absent: the entry is a notice about a job, and takes no slot. */
  readonly slot?: Slot;
}

export interface NodeMailbox<T> {
  put(nodeId: NodeId, entry: MailboxEntry<T>): Promise<'queued' | 'full'>;
  take(
    nodeId: NodeId,
    limits: { max: number; waitMs: number; signal?: AbortSignal },
  ): Promise<readonly MailboxEntry<T>[]>;
  /** Removes an entry that was not fetched yet. */
  drop(nodeId: NodeId, jobId: JobId): Promise<boolean>;
  forget(nodeId: NodeId): Promise<void>;
}
