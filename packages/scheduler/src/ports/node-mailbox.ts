/**
 * Port: jobs waiting to be fetched by nodes that poll.
 *
 * The law: bounded per node; first in, first out; an entry is handed out at most once and never after its expiry;
 * a waiting `take` wakes when something arrives, and ends empty-handed at its limit or when aborted.
 */
import type { JobId, NodeId } from '../domain/ids.ts';

export interface MailboxEntry<T> {
  readonly jobId: JobId;
  readonly expiresAt: number;
  readonly body: T;
  /** "instance/incarnation" of who drives the job, for whoever hands it out. Absent: nobody said. */
  readonly driver?: string;
}

export interface NodeMailbox<T> {
  put(nodeId: NodeId, entry: MailboxEntry<T>): Promise<'queued' | 'full'>;
  take(
    nodeId: NodeId,
    limits: { max: number; waitMs: number; signal?: AbortSignal },
  ): Promise<readonly MailboxEntry<T>[]>;
  /** Takes an entry back that nobody has fetched. */
  drop(nodeId: NodeId, jobId: JobId): Promise<boolean>;
  forget(nodeId: NodeId): Promise<void>;
}
