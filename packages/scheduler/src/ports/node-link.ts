/**
 * Port: the way to a node, whatever it is: socket, callback endpoint or mailbox.
 *
 * The law: `written` means the bytes were handed to the node's connection, or the endpoint took them; `queued` means a
 * bounded mailbox holds them; `unknown` that they were sent and nobody can say whether they arrived; everything else is
 * `undeliverable`, `declined` or `overloaded`, and then the node has not taken the assignment and never will.
 * An assignment past its `expiresAt` is not delivered. The link commits the lease of the attempt before it hands the job to the node, and
 * hands nothing over without the answer `committed`; jobs in a mailbox are committed when the node fetches them.
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
  /** Where its audio is, if another instance holds it. */
  readonly audioAt?: AudioAt | undefined;
}

export type Delivery =
  | {
      readonly kind: 'written';
      /** Of the connection it was written to, if another instance holds it. */
      readonly generation?: number | undefined;
      /** It was posted to the node's endpoint, not written to the connection by which the node itself speaks. */
      readonly isApart?: boolean | undefined;
    }
  | { readonly kind: 'queued' }
  /** `declined`: its endpoint was not to be reached, or wanted nothing of it. `overloaded`: the node answered that it has no room. */
  | { readonly kind: 'undeliverable' | 'declined' | 'overloaded' | 'unknown'; readonly reason: string };

export interface NodeLink {
  deliver(assignment: Assignment): MaybePromise<Delivery>;
  /** Best effort: legacy nodes ignore it. */
  cancel(nodeId: NodeId, jobId: JobId, reason: string): void;
}
