/** Hot path: a job between acceptance and outcome. */
import type { DispatchOutcome } from '../domain/dispatch.ts';
import type { NodeId } from '../domain/ids.ts';
import { type Attempt, hedgeOf, holdsFence, isMeantFor, type JobRecord } from '../domain/job.ts';
import type { AudioAt, JobResult } from '../domain/job-spec.ts';
import type { HandOver } from '../domain/node-report.ts';
import { UNNUMBERED } from '../domain/numbered/node-numbers.ts';
import { NOWHERE } from '../domain/numbered/numbered-places.ts';
import type { Delivery } from '../ports/node-link.ts';
import type { Timer } from './attempts/timer-wheel.ts';
import type { QuotaUnit } from './queue/inflight-caps.ts';
import type { CompiledNeed } from './select/compile-need.ts';

export interface InFlightJob {
  /** The newest known record. */
  job: JobRecord;
  /** The record as it was last written, while `job` is ahead of it by DISPATCHED. Undefined: `job` was written. */
  written: JobRecord | undefined;
  /** How many moves of the job are being written. */
  writes: number;
  /** Also has the job's need. */
  readonly compiled: CompiledNeed;
  /** Nodes that were sent the job, in order. They are excluded, because a node refuses a job id it has seen; a node that never got the job is removed. */
  sentTo: SentTo;
  /** How many nodes of `sentTo` were checked for a cancel because their delivery was not confirmed. */
  cancelsSent: number;
  /** Highest attempt number used so far. */
  attempts: number;
  /** The last second attempt of the job beside its first one, current or not. A job has at most one. */
  hedge: Hedge | undefined;
  /** When the current attempt is overdue. */
  hedgeTimer: Timer | undefined;
  /** Retries that count against max_retry. */
  retries: number;
  /** Nodes lost by disconnect while they had the job. */
  nodesLost: number;
  /** The node of the current attempt acknowledges jobs. A legacy node does not. */
  doesAcknowledge: boolean;
  /** Of the current attempt: acknowledgement timeout, then job timeout. */
  attemptTimer: Timer | undefined;
  deadlineTimer: Timer | undefined;
  /** The write of DISPATCHED that is under way. */
  recording: Promise<unknown> | undefined;
  /** When the current attempt was sent, with fractions of a millisecond. */
  sentAt: number;
  /** Another instance drove the job before; this one resumed it from its record. */
  readonly isResumed: boolean;
  /** How the current attempt was sent. */
  path: DeliveryPath;
  /**
   * Where the audio is, if not held here. `missing`: lost, so the job cannot be sent to another node. `awaited`: lost, and the job
   * waits only for its return.
   */
  audioAt: AudioAt | 'missing' | 'awaited' | undefined;
  /** Why the last attempt ended: the job's failure if no other attempt succeeds. */
  lastFailure: { code: string; message: string } | undefined;
  /** A result without translation, used if no better one arrives. */
  fallback: JobResult | undefined;
  /** Repeats of the request that wait for the outcome of the first placement. Undefined: that placement has ended. */
  repeats: readonly ((outcome: DispatchOutcome) => void)[] | undefined;
  /** Ends the wait for a slot. Undefined: the job does not wait. */
  stopWaiting: (() => void) | undefined;
  /** The attempt that was abandoned last; 0 = none. An attempt is abandoned once. */
  abandonedAttempt: number;
  /** Attempts whose nodes have ended the job, so their leases were released. */
  released: readonly number[];
  /** Attempts whose leases are marked as abandoned. */
  abandonedLeases: readonly number[];
  /** An outcome is being written. */
  settling: Settlement | undefined;
  /**
   * Whether this instance may move the job. `withdrawn`: its request was refused, and the record is being removed. `record_gone`:
   * the store lost the record. `elsewhere`: another instance drives it.
   */
  driving: 'ours' | 'withdrawn' | 'record_gone' | 'elsewhere';
  /** Nodes that could not take the job, each with the time until which this job skips it. */
  skippedUntil: ReadonlyMap<NodeId, number>;
  /** Its unit of the tenant's cap; undefined: the job waits, or no tenant has a cap. */
  quotaUnit: QuotaUnit | undefined;
  /** The node that disconnected while the job was being sent to it. */
  leftDuringSend: NodeId | undefined;
  /** Its place in the index of in-flight jobs; NOWHERE: not in it. */
  place: number;
  /** The number of the node in whose chain the job is. */
  onNode: number;
}

export interface DeliveryPath {
  /** Generation of the connection the job was written to, if another instance holds it; Infinity: unknown. */
  readonly generation: number | undefined;
  /** The job is in the node's mailbox, and it is not known to be fetched. */
  readonly isInMailbox: boolean;
  /**
   * The job was not sent over the connection that carries the node's reports, or the path is unknown. So a list of running jobs
   * that omits it may have been written before the job arrived.
   */
  readonly isOutOfBand: boolean;
  /** The assignment is in the inbox of the node's holder, which has not reported yet whether it handed the job over. */
  readonly awaitsHolder: boolean;
}

const SOCKET: DeliveryPath = {
  generation: undefined,
  isInMailbox: false,
  isOutOfBand: false,
  awaitsHolder: false,
};
const ENDPOINT: DeliveryPath = { ...SOCKET, isOutOfBand: true };
/** Before the first send, and for an earlier attempt whose path is not kept. */
export const FORGOTTEN_PATH: DeliveryPath = { ...SOCKET, isOutOfBand: true };
const MAILBOX: DeliveryPath = { ...SOCKET, isInMailbox: true, isOutOfBand: true };
/** The delivery has no reply yet, or an unknown result. */
const UNKNOWN_PATH: DeliveryPath = {
  ...SOCKET,
  generation: Number.POSITIVE_INFINITY,
  isOutOfBand: true,
};
const HOLDER_INBOX: DeliveryPath = { ...UNKNOWN_PATH, awaitsHolder: true };

export interface Hedge extends Attempt {
  /** 0: not yet. */
  sentAt: number;
  isAcknowledged: boolean;
}

export interface Settlement {
  /** The attempt whose outcome is written. Undefined: any attempt. */
  readonly of: Attempt | undefined;
  /** Never rejects. */
  readonly ended: Promise<unknown>;
}

/** The record as this driver last wrote it. */
export const writtenRecord = ({ job, written }: InFlightJob): JobRecord => written ?? job;

/** The outcome is being written, and its attempt may still end the job. The write of a superseded attempt will be refused. */
export const isEnding = ({ settling, job }: InFlightJob): boolean =>
  settling !== undefined && (settling.of === undefined || mayEnd(job, settling.of));

/** The attempt holds the fence, or is its hedge: its result would be accepted. */
export const mayEnd = (job: JobRecord, { nodeId, attempt }: Attempt): boolean =>
  holdsFence(job, nodeId, attempt) || hedgeOf(job)?.attempt === attempt;

/** A number that no attempt of the job has had. */
export const nextAttempt = ({ attempts, hedge }: InFlightJob): number =>
  Math.max(attempts, hedge?.attempt ?? 0) + 1;

/** This instance drives the job and intends this attempt on this node. */
export const isDue = ({ job, driving }: InFlightJob, nodeId: NodeId, attempt: number): boolean =>
  driving === 'ours' && isMeantFor(job, nodeId, attempt);

/** Most jobs are sent to one node only, which needs no list. */
export type SentTo = NodeId | readonly NodeId[];

const NO_NODE_IDS: readonly NodeId[] = [];
const NO_ATTEMPTS: readonly number[] = [];
const NO_REPEATS: InFlightJob['repeats'] = [];
const FIRST_ATTEMPT: readonly number[] = [1];
export const NO_SKIPPED_NODES: ReadonlyMap<NodeId, number> = new Map();

/** A new map each time: this is rare, and most jobs never need one. */
export function skipNode(flight: InFlightJob, nodeId: NodeId, until: number): void {
  flight.skippedUntil = new Map([...flight.skippedUntil, [nodeId, until]]);
}

/** A new list each time: `push` would reserve room for sixteen entries in every job. */
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

/** Called before the lease is released, so that the attempt does not take its slot again. */
export function noteReleased(flight: InFlightJob, attempt: number): void {
  const { released } = flight;
  // Most jobs have one attempt, and share this list.
  if (released.length === 0) flight.released = attempt === 1 ? FIRST_ATTEMPT : [attempt];
  else if (!released.includes(attempt)) flight.released = released.concat(attempt);
}

/** The attempt goes on after it seemed to have ended. */
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

/** The state of the last send, restored if the next send turns out not to have happened. */
export type Sends = Pick<InFlightJob, 'attempts' | 'sentAt' | 'sentTo' | 'path'>;

export const UNSENT: Sends = {
  attempts: 0,
  sentAt: 0,
  sentTo: NO_NODE_IDS,
  path: FORGOTTEN_PATH,
};

export const sendsOf = (flight: InFlightJob): Sends => ({
  attempts: flight.attempts,
  sentAt: flight.sentAt,
  sentTo: flight.sentTo,
  path: flight.path,
});

/** A send begins: its path is not known yet. */
export function noteSendStarted(flight: InFlightJob): void {
  flight.path = UNKNOWN_PATH;
}

export function noteDelivered(flight: InFlightJob, delivery: Arrived): void {
  if (delivery.kind === 'queued') flight.path = MAILBOX;
  else flight.path = delivery.kind === 'sent' ? HOLDER_INBOX : writtenPath(delivery);
}

function writtenPath({ generation, isOutOfBand = false }: HandOver): DeliveryPath {
  if (generation !== undefined) return { ...SOCKET, generation, isOutOfBand };
  return isOutOfBand ? ENDPOINT : SOCKET;
}

/** The attempt was sent last, and it is not known yet by which connection. */
export const isPathUnknown = ({ attempts, path }: InFlightJob, attempt: number): boolean =>
  attempts === attempt && path.generation === Number.POSITIVE_INFINITY;

export type Arrived = Extract<Delivery, { readonly kind: 'written' | 'queued' | 'sent' }>;

/** The last send did not happen. Its node may have got a cancel meanwhile; the next node has not. */
export function noteUnsent(flight: InFlightJob, previous: Sends): void {
  Object.assign(flight, previous);
  flight.cancelsSent = Math.min(flight.cancelsSent, nodesOf(previous.sentTo).length);
}

/** The holder of the node reported that the node did not get the job, so the job may be sent to it again. */
export function noteNotHandedOver(flight: InFlightJob, nodeId: NodeId): void {
  flight.sentTo = nodesOf(flight.sentTo).filter((one) => one !== nodeId);
  flight.cancelsSent = Math.min(flight.cancelsSent, flight.sentTo.length);
}

/** The fields of a log line about an attempt of a job. */
export const attemptFields = (
  { jobId, spec, fence, intent }: JobRecord,
  reason: string,
  { nodeId, attempt }: Partial<Attempt> = fence ?? intent ?? {},
) => ({ job_id: jobId, node_id: nodeId, attempt_id: attempt, trace_id: spec.traceId, reason });

/** Another instance drives the job: this one must not send or write anything for it. */
export const isDropped = ({ driving }: InFlightJob): boolean => driving === 'elsewhere';

/** The job cannot be sent to a node. */
export const lacksAudio = ({ audioAt }: InFlightJob): boolean =>
  audioAt === 'missing' || audioAt === 'awaited';

export function createInFlightJob(job: JobRecord, compiled: CompiledNeed): InFlightJob {
  return {
    job,
    written: undefined,
    writes: 0,
    compiled,
    sentTo: NO_NODE_IDS,
    cancelsSent: 0,
    attempts: 0,
    hedge: undefined,
    hedgeTimer: undefined,
    retries: 0,
    nodesLost: 0,
    doesAcknowledge: false,
    attemptTimer: undefined,
    deadlineTimer: undefined,
    recording: undefined,
    sentAt: 0,
    isResumed: false,
    path: FORGOTTEN_PATH,
    audioAt: undefined,
    lastFailure: undefined,
    fallback: undefined,
    repeats: NO_REPEATS,
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
