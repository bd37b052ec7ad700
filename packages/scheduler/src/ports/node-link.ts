/**
 * Port: the way to a node, whatever it is: socket, callback endpoint or mailbox.
 *
 * The law: `written` means the bytes were handed to the node's connection, or the endpoint took them; `queued` means a
 * bounded mailbox holds them; `unknown` that they were sent and nobody can say whether they arrived; everything else is
 * `undeliverable`, `declined` or `overloaded`, and then the node has not taken the assignment and never will.
 * An assignment past its `expiresAt` is not delivered.
 */
import type { JobId, NodeId } from '../domain/ids.ts';
import type { JobRecord } from '../domain/job.ts';
import type { AudioAt } from '../domain/job-spec.ts';
import type { MaybePromise } from '../domain/maybe-promise.ts';

export interface Assignment {
  readonly nodeId: NodeId;
  readonly attempt: number;
  readonly job: JobRecord;
  readonly expiresAt: number;
  /** Its slot is reserved at least until then; absent: until `expiresAt`. */
  readonly slotUntil?: number;
  /** Where its audio is, if another instance holds it. */
  readonly audioAt?: AudioAt | undefined;
}

export type Delivery =
  | {
      readonly kind: 'written';
      /** Another instance holds the node and has written DISPATCHED: the record after it. */
      readonly job?: JobRecord | undefined;
      /** Of the connection it was written to, if another instance holds it. */
      readonly generation?: number | undefined;
      /** It was posted to the node's endpoint, not written to the connection by which the node itself speaks. */
      readonly isApart?: boolean | undefined;
      /** Another instance holds the node and has counted that it was placed. */
      readonly isCounted?: boolean | undefined;
    }
  | {
      readonly kind: 'queued';
      /** Whoever hands it out makes its slot last as long as it may run, if that instance is of a version that does so. */
      readonly isLasting?: boolean | undefined;
    }
  /** `declined`: its endpoint was not to be reached, or wanted nothing of it. `overloaded`: the node answered that it has no room. */
  | { readonly kind: 'undeliverable' | 'declined' | 'overloaded' | 'unknown'; readonly reason: string };

export interface NodeLink {
  deliver(assignment: Assignment): MaybePromise<Delivery>;
  /** Best effort: legacy nodes ignore it. */
  cancel(nodeId: NodeId, jobId: JobId, reason: string): void;
  /**
   * An attempt that was not acknowledged is given up, though its node may speak up yet: from here its slot lasts no longer than one that
   * is reserved now. Best effort. Absent: no slot lasts longer before it is acknowledged.
   */
  giveUp?(nodeId: NodeId, jobId: JobId, attempt: number): void;
}
