/**
 * Port: delivers assignments to a node by its socket, its callback endpoint or its mailbox.
 *
 * The law: `written` means that the bytes were written to the node's connection, or that the endpoint accepted them; `queued` that
 * a bounded mailbox holds them; `sent` that the inbox of the node's holder has the assignment, and the holder will report what became of
 * it; `unknown` that the assignment may or may not have arrived. With every other result (`undeliverable`, `declined`, `overloaded`)
 * the node did not receive the assignment and never will.
 * An assignment past its `expiresAt` is not delivered. The link commits the lease of the attempt before it hands the job to the node, and
 * hands nothing over without the answer `committed`; jobs in a mailbox are committed when the node fetches them.
 */
import type { JobId, NodeId } from '../domain/ids.ts';
import type { JobRecord } from '../domain/job.ts';
import type { AudioAt } from '../domain/job-spec.ts';
import type { HandOver } from '../domain/node-report.ts';
import type { MaybePromise } from '../domain/with-timeout.ts';

export interface Assignment {
  readonly nodeId: NodeId;
  readonly attempt: number;
  readonly job: JobRecord;
  readonly expiresAt: number;
  /** Where the audio is, if another instance stores it. */
  readonly audioAt?: AudioAt | undefined;
}

export type Delivery =
  | ({ readonly kind: 'written' } & HandOver)
  | { readonly kind: 'queued' }
  | { readonly kind: 'sent' }
  /** `declined`: there was no connection to its endpoint, or the endpoint refused. `overloaded`: the node answered that it has no free slot. */
  | { readonly kind: 'undeliverable' | 'declined' | 'overloaded' | 'unknown'; readonly reason: string };

export interface NodeLink {
  deliver(assignment: Assignment): MaybePromise<Delivery>;
  /** Best effort: legacy nodes ignore it. */
  cancel(nodeId: NodeId, jobId: JobId, reason: string): void;
}
