/** Hot path: a job between acceptance and outcome. */
import type { DispatchOutcome } from '../domain/dispatch.ts';
import type { NodeId } from '../domain/ids.ts';
import { type Attempt, holdsFence, isMeantFor, type JobRecord } from '../domain/job.ts';
import type { AudioAt, JobResult } from '../domain/job-spec.ts';
import type { Need } from '../domain/need.ts';
import { UNNUMBERED } from '../domain/numbered/node-numbers.ts';
import { NOWHERE } from '../domain/numbered/numbered-places.ts';
import type { Delivery } from '../ports/node-link.ts';
import type { Timer } from './attempts/timer-wheel.ts';
import type { QuotaUnit } from './queue/inflight-caps.ts';
import type { CompiledNeed } from './select/compile-need.ts';

export interface InFlightJob {
  /** The newest record we know of. */
  job: JobRecord;
  /** The record as it was last written, while `job` is ahead of it by DISPATCHED. Undefined: `job` was written. */
  written: JobRecord | undefined;
  /** How many moves of it are being written. */
  writes: number;
  readonly need: Need;
  readonly compiled: CompiledNeed;
  /** Nodes that were sent the job, in order: excluded for good, they refuse what they have seen. */
  sentTo: SentTo;
  /** How many of those were told to stop although nobody knows whether they have the job: nobody is told twice. */
  cancelsSent: number;
  /** Highest attempt number used so far. */
  attempts: number;
  /** Retries that count against max_retry. */
  retries: number;
  /** Nodes lost by disconnect while they had the job. */
  nodesLost: number;
  /** The attempt that is out will be acknowledged; otherwise taking it was the acknowledgement. */
  doesAcknowledge: boolean;
  /** Of the attempt that is out: acknowledgement, then job timeout. */
  attemptTimer: Timer | undefined;
  deadlineTimer: Timer | undefined;
  /** DISPATCHED is being written by itself. */
  recording: Promise<unknown> | undefined;
  /** When the attempt that is out was sent, to the fraction of a millisecond. */
  sentAt: number;
  /** Another instance drove the job before, and this one goes on from the record. */
  readonly isResumed: boolean;
  /** It was put into the node's mailbox, and nobody has said that it was fetched. */
  isInMailbox: boolean;
  /**
   * It went another way than the node's own words come, or nobody has said by which: a list of what the node runs may have been
   * written before it arrived.
   */
  isOutOfBand: boolean;
  /** The assignment is in the inbox of the node's holder, which has not reported yet whether it handed the job over. */
  awaitsHolder: boolean;
  /** When its acknowledgement was heard; 0: not yet, or never will be. */
  runningAt: number;
  /** Of the connection it was written to, if another instance holds that; Infinity: not known, it may be any. */
  generation: number | undefined;
  /**
   * Where its audio is, if not held here. `missing`: nowhere, so that no other node can be sent the job. `awaited`: nowhere, and
   * that is all it waits for.
   */
  audioAt: AudioAt | 'missing' | 'awaited' | undefined;
  /** Why the last attempt ended; the job's failure if no other succeeds. */
  lastFailure: { code: string; message: string } | undefined;
  /** A result worth having if no better one comes. */
  fallback: JobResult | undefined;
  /** The first placement is under way; repeats of the request wait here for what it comes to. */
  isPlacing: boolean;
  repeats: ((outcome: DispatchOutcome) => void)[] | undefined;
  /** How often a node was looked for after the first try. */
  searches: number;
  /** A slot is being had for it. */
  securing: Promise<unknown> | undefined;
  /** Ends its wait for a slot, if it waits. */
  stopWaiting: (() => void) | undefined;
  /** The attempt that was given up last; 0 = none. An attempt is given up once. */
  abandonedAttempt: number;
  /** Attempts whose nodes are done with the job, so that their leases were released. */
  released: readonly number[];
  /** Attempts whose leases are marked as abandoned. */
  abandonedLeases: readonly number[];
  /** An outcome is being written. */
  settling: Settlement | undefined;
  /**
   * Whether it is ours to move. `taken_back`: it was refused, and its record is being removed. `record_gone`: the store has lost it.
   * `elsewhere`: another instance drives it by now.
   */
  driving: 'ours' | 'withdrawn' | 'record_gone' | 'elsewhere';
  /** Nodes that could not be handed the job, and until when they are left alone. */
  skippedUntil: ReadonlyMap<NodeId, number>;
  /** Among those of its tenant that have a node or are on their way to one; undefined: it waits, or nobody counts. */
  quotaUnit: QuotaUnit | undefined;
  /** The node that left while the job was on its way to it. */
  leftDuringSend: NodeId | undefined;
  /** Where it is in the index of all; NOWHERE: in none. */
  place: number;
  /** The number of the node in whose chain it is. */
  onNode: number;
}

export interface Settlement {
  /** The attempt whose outcome it is. Undefined: whichever counts. */
  readonly of: Attempt | undefined;
  /** Never rejects. */
  readonly ended: Promise<unknown>;
}

/** The record as this driver last wrote it. */
export const writtenRecord = ({ job, written }: InFlightJob): JobRecord => written ?? job;

/** Its outcome is being written, and that of no attempt whose successor counts by now: such a one comes to nothing. */
export const isEnding = ({ settling, job }: InFlightJob): boolean =>
  settling !== undefined &&
  (settling.of === undefined || holdsFence(job, settling.of.nodeId, settling.of.attempt));

/** It is to be sent there, and by us. */
export const isDue = ({ job, driving }: InFlightJob, nodeId: NodeId, attempt: number): boolean =>
  driving === 'ours' && isMeantFor(job, nodeId, attempt);

/** Most jobs are sent to one node, once: that needs no list. */
export type SentTo = NodeId | readonly NodeId[];

const NO_NODE_IDS: readonly NodeId[] = [];
const NO_ATTEMPTS: readonly number[] = [];
const FIRST_ATTEMPT: readonly number[] = [1];
export const NO_SKIPPED_NODES: ReadonlyMap<NodeId, number> = new Map();

/** A new map each time: this is rare, and most flights never need one. */
export function skipNode(flight: InFlightJob, nodeId: NodeId, until: number): void {
  flight.skippedUntil = new Map([...flight.skippedUntil, [nodeId, until]]);
}

/** A new list each time: a push would keep room for sixteen more, in every flight. */
export function noteSent(flight: InFlightJob, nodeId: NodeId): void {
  const { sentTo } = flight;
  if (sentTo.length === 0) flight.sentTo = nodeId;
  else if (!hasBeenSent(sentTo, nodeId)) flight.sentTo = nodesOf(sentTo).concat(nodeId);
}

export const nodesOf = (sentTo: SentTo): readonly NodeId[] =>
  typeof sentTo === 'string' ? [sentTo] : sentTo;

/** No other node was sent the job. */
export const isFirstSend = ({ sentTo }: InFlightJob): boolean => typeof sentTo === 'string';

const hasBeenSent = (sentTo: SentTo, nodeId: NodeId): boolean =>
  typeof sentTo === 'string' ? sentTo === nodeId : sentTo.includes(nodeId);

/** Before the slot is given back: nobody may take it again for that attempt. */
export function noteReleased(flight: InFlightJob, attempt: number): void {
  const { released } = flight;
  // Most jobs have one attempt, and need no list of their own.
  if (released.length === 0) flight.released = attempt === 1 ? FIRST_ATTEMPT : [attempt];
  else if (!released.includes(attempt)) flight.released = released.concat(attempt);
}

/** It was not the node's last word: the attempt goes on. */
export function noteReopened(flight: InFlightJob, attempt: number): void {
  if (flight.released.length > 0) flight.released = flight.released.filter((one) => one !== attempt);
}

export const hasReleased = ({ released }: InFlightJob, attempt: number): boolean =>
  released.includes(attempt);

export function noteLeaseAbandoned(flight: InFlightJob, attempt: number): void {
  if (!isLeaseAbandoned(flight, attempt)) flight.abandonedLeases = flight.abandonedLeases.concat(attempt);
}

export function noteLeaseCommitted(flight: InFlightJob, attempt: number): void {
  flight.abandonedLeases = flight.abandonedLeases.filter((one) => one !== attempt);
}

export const isLeaseAbandoned = ({ abandonedLeases }: InFlightJob, attempt: number): boolean =>
  abandonedLeases.includes(attempt);

/** What a flight knows of its sends, should the next one turn out not to have happened. */
export type Sends = Pick<
  InFlightJob,
  'attempts' | 'sentAt' | 'sentTo' | 'generation' | 'isInMailbox' | 'isOutOfBand'
>;

export const UNSENT: Sends = {
  attempts: 0,
  sentAt: 0,
  sentTo: NO_NODE_IDS,
  generation: undefined,
  isInMailbox: false,
  isOutOfBand: true,
};

export const sendsOf = (flight: InFlightJob): Sends => ({
  attempts: flight.attempts,
  sentAt: flight.sentAt,
  sentTo: flight.sentTo,
  generation: flight.generation,
  isInMailbox: flight.isInMailbox,
  isOutOfBand: flight.isOutOfBand,
});

/** Of a send that leaves: nobody can say yet by which way. */
export function noteSendStarted(flight: InFlightJob): void {
  flight.generation = Number.POSITIVE_INFINITY;
  flight.isInMailbox = false;
  flight.isOutOfBand = true;
  flight.awaitsHolder = false;
}

export function noteDelivered(flight: InFlightJob, delivery: Arrived): void {
  flight.awaitsHolder = delivery.kind === 'sent';
  if (delivery.kind === 'sent') return;
  const isQueued = delivery.kind === 'queued';
  flight.generation = isQueued ? undefined : delivery.generation;
  flight.isInMailbox = isQueued;
  flight.isOutOfBand = isQueued || delivery.isOutOfBand === true;
}

export type Arrived = Extract<Delivery, { readonly kind: 'written' | 'queued' | 'sent' }>;

/** The last send did not happen. Its node may have been told to stop meanwhile: the next one has not been. */
export function noteUnsent(flight: InFlightJob, previous: Sends): void {
  Object.assign(flight, previous);
  flight.cancelsSent = Math.min(flight.cancelsSent, nodesOf(previous.sentTo).length);
}

/** The holder of the node reported that the node did not get the job, so the job may be sent to it again. */
export function noteNotHandedOver(flight: InFlightJob, nodeId: NodeId): void {
  flight.sentTo = nodesOf(flight.sentTo).filter((one) => one !== nodeId);
  flight.cancelsSent = Math.min(flight.cancelsSent, flight.sentTo.length);
}

/** Another instance drives it by now: not a word more of ours, to anybody. */
export const isDropped = ({ driving }: InFlightJob): boolean => driving === 'elsewhere';

/** No node can be sent the job. */
export const lacksAudio = ({ audioAt }: InFlightJob): boolean =>
  audioAt === 'missing' || audioAt === 'awaited';

export function createInFlightJob(job: JobRecord, need: Need, compiled: CompiledNeed): InFlightJob {
  return {
    job,
    written: undefined,
    writes: 0,
    need,
    compiled,
    sentTo: NO_NODE_IDS,
    cancelsSent: 0,
    attempts: 0,
    retries: 0,
    nodesLost: 0,
    doesAcknowledge: false,
    attemptTimer: undefined,
    deadlineTimer: undefined,
    recording: undefined,
    sentAt: 0,
    isResumed: false,
    isInMailbox: false,
    isOutOfBand: true,
    awaitsHolder: false,
    runningAt: 0,
    generation: undefined,
    audioAt: undefined,
    lastFailure: undefined,
    fallback: undefined,
    isPlacing: true,
    repeats: undefined,
    searches: 0,
    securing: undefined,
    stopWaiting: undefined,
    abandonedAttempt: 0,
    released: NO_ATTEMPTS,
    abandonedLeases: NO_ATTEMPTS,
    settling: undefined,
    driving: 'ours',
    skippedUntil: NO_SKIPPED_NODES,
    quotaUnit: undefined,
    leftDuringSend: undefined,
    place: NOWHERE,
    onNode: UNNUMBERED,
  };
}
