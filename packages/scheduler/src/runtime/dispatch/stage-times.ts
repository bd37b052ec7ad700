/** Hot path: how long the stages of a job take. Labels are created once: an observation allocates nothing. */
import type { Labels, Meter } from '../../ports/meter.ts';

/** In the queue, whatever ends the wait; only jobs that waited. */
export const WAIT: Labels = { stage: 'wait' };
/** From the request, or from the previous candidate, to the reserve call. */
export const SELECT: Labels = { stage: 'select' };
/** From the reserve call to its reply or failure. */
export const RESERVE: Labels = { stage: 'reserve' };
/** From the delivery call until the job is written to the socket or in the mailbox. */
export const SEND: Labels = { stage: 'send' };
/** From the send until the acknowledgement is received; only accepted acknowledgements. */
export const ACK: Labels = { stage: 'ack' };
/** From the acknowledgement, or the send if there was none, until the result or failure is received. */
export const RUN: Labels = { stage: 'run' };
/** From admission to the outcome, once per job. */
export const TOTAL: Labels = { stage: 'total' };

/** A job admitted by another machine has times of that clock: negative durations count as 0. */
export const noteStage = ({ meter }: { readonly meter: Meter }, stage: Labels, ms: number): void =>
  meter.observe('scheduler_stage_seconds', ms > 0 ? ms / 1_000 : 0, stage);
