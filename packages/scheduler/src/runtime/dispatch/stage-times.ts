/** Hot path: how long the stages of a job take. Nothing is made per observation: the labels are made once. */
import type { Labels, Meter } from '../../ports/meter.ts';

/** In the queue, whatever ends it; only jobs that had to wait. */
export const WAIT: Labels = { stage: 'wait' };
/** From the request, or from the candidate before, until the ledger is asked for a slot. */
export const SELECT: Labels = { stage: 'select' };
/** From asking the ledger to its answer, or to giving up on one. */
export const RESERVE: Labels = { stage: 'reserve' };
/** From handing the job to its link until it is written or in the mailbox. */
export const SEND: Labels = { stage: 'send' };
/** From the send until the acknowledgement is heard; only attempts whose acknowledgement counted. */
export const ACK: Labels = { stage: 'ack' };
/** From the acknowledgement — or the send, where there was none — until the node's result or failure is heard. */
export const RUN: Labels = { stage: 'run' };
/** From admission to the outcome, once per job. */
export const TOTAL: Labels = { stage: 'total' };

/** A job that another machine admitted has that machine's times: none is negative for it. */
export const noteStage = ({ meter }: { readonly meter: Meter }, stage: Labels, ms: number): void =>
  meter.observe('scheduler_stage_seconds', ms > 0 ? ms / 1_000 : 0, stage);
