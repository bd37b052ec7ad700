/**
 * Port: jobs waiting to be fetched by nodes that poll.
 *
 * The law: bounded per node; first in, first out; an entry is handed out at most once and never after its expiry;
 * a waiting `take` wakes when something arrives, and ends empty-handed at its limit or when aborted. An entry that names its slot is
 * handed out only while that is held, by an attempt that was not given up: from then on the slot lasts for at least the time that it
 * names, and a report of the node without the job proves it gone, as if the lease had been committed.
 */
import type { JobId, NodeId } from '../domain/ids.ts';
import type { LeaseId } from '../domain/lease.ts';

export interface Slot {
  readonly lease: LeaseId;
  readonly ttlMs: number;
}

export interface MailboxEntry<T> {
  readonly jobId: JobId;
  readonly expiresAt: number;
  readonly body: T;
  /** "instance/incarnation" of who drives the job, for whoever hands it out. Absent: nobody said. */
  readonly driver?: string;
  /** On the ledger of the same store. Absent: whoever put it there looks after that. */
  readonly slot?: Slot;
}

export interface NodeMailbox<T> {
  put(nodeId: NodeId, entry: MailboxEntry<T>): Promise<'queued' | 'full'>;
  take(
    nodeId: NodeId,
    limits: { max: number; waitMs: number; signal?: AbortSignal },
  ): Promise<readonly MailboxEntry<T>[]>;
  /**
   * Takes an entry back that nobody has fetched. `slot`: whether or not somebody has, its slot lasts no longer than that, from here. Only
   * for a job whose node has not said that it has it.
   */
  drop(nodeId: NodeId, jobId: JobId, slot?: Slot): Promise<boolean>;
  forget(nodeId: NodeId): Promise<void>;
}
