/** Hot path: delivers outcomes in the order of their utterances (I5). Synchronous; time is an argument. */
import type { NodeId } from '../../domain/ids.ts';
import { type MissingReason, type Outcome, weightOf } from './outcome.ts';

export interface DeliverySettings {
  /** How long a result waits for an earlier utterance. */
  readonly gapTimeoutMs: number;
  /** The same while a node has that utterance. */
  readonly gapMaxMs: number;
  readonly maxPendingResults: number;
  /** Limit of the outcomes that wait here, and of the unacknowledged ones on a connection: delivered at once, they must fit into it. */
  readonly maxPendingBytes: number;
  /** Limit of delivered outcomes that are kept. */
  readonly maxResultBytes: number;
  readonly maxKeptResults: number;
}

/** The part of an accepted utterance that delivery uses. */
export interface Deliverable {
  /** Outcomes of one lane are in order and do not wait for those of other lanes. Absent: the only lane of the session. */
  readonly lane?: string | undefined;
  /** It has its outcome, which is final. */
  isSettled: boolean;
  /** Only until it is delivered: references to the utterance must not keep its speech in memory. */
  outcome: Outcome | undefined;
  readyAt: number;
  /** The node of the current attempt. */
  nodeId: NodeId | undefined;
  work: Work;
  /** Another instance drives its job: when its record was last read. Absent: this instance receives its moves directly. */
  recordReadAt?: number | undefined;
}

/** `sent`: a node has it. `acknowledged`: the node has confirmed that, which legacy nodes never do. `since`: the last change. */
export interface Work {
  readonly state: 'none' | 'sent' | 'acknowledged';
  readonly since: number;
}

/** Of a record: it has not been read yet. */
export const NEVER = Number.NEGATIVE_INFINITY;

/** No node has had it yet. */
export const NO_WORK: Work = { state: 'none', since: NEVER };

export interface Delivered<P extends Deliverable> {
  readonly utterance: P;
  readonly outcome: Outcome;
  /** From 1, without gaps. */
  readonly deliverySeq: number;
}

export interface Delivery<P extends Deliverable> {
  /** Accepted and not delivered, in order of acceptance. */
  readonly waiting: P[];
  /** Outcomes that are ready and wait for earlier ones; `results`: those that are translations. */
  readonly pending: { count: number; results: number; bytes: number };
  /** Delivered and not acknowledged: a client that resumes may not have received them. */
  readonly kept: Delivered<P>[];
  keptBytes: number;
  deliverySeq: number;
  /** Number of kept outcomes that were dropped because of the limits. */
  forgotten: number;
}

export const createDelivery = <P extends Deliverable>(): Delivery<P> => ({
  waiting: [],
  pending: { count: 0, results: 0, bytes: 0 },
  kept: [],
  keptBytes: 0,
  deliverySeq: 0,
  forgotten: 0,
});

/** False: it has its outcome already, which is final. */
export function settle<P extends Deliverable>(
  delivery: Delivery<P>,
  utterance: P,
  outcome: Outcome,
  at: number,
): boolean {
  if (utterance.isSettled || !delivery.waiting.includes(utterance)) return false;
  utterance.isSettled = true;
  utterance.outcome = outcome;
  utterance.readyAt = at;
  delivery.pending.count += 1;
  if (outcome.kind === 'result') delivery.pending.results += 1;
  delivery.pending.bytes += weightOf(outcome);
  return true;
}

/** `abandoned`: its job may still run and must be fenced. */
export type Released<P extends Deliverable> =
  | { readonly kind: 'delivered'; readonly delivered: Delivered<P> }
  | { readonly kind: 'abandoned'; readonly utterance: P; readonly reason: MissingReason };

/** Delivers everything up to the first gap of each lane, and closes gaps that lasted too long or hold back too much. */
export function release<P extends Deliverable>(
  delivery: Delivery<P>,
  at: number,
  settings: DeliverySettings,
  mayLeave: (utterance: P) => boolean = () => true,
): readonly Released<P>[] {
  const released: Released<P>[] = [];
  for (const lane of lanesOf(delivery)) releaseLane(delivery, lane, at, settings, mayLeave, released);
  return released;
}

function releaseLane<P extends Deliverable>(
  delivery: Delivery<P>,
  lane: readonly P[],
  at: number,
  settings: DeliverySettings,
  mayLeave: (utterance: P) => boolean,
  released: Released<P>[],
): void {
  for (let left = lane; ; ) {
    const [head] = left;
    if (head === undefined) return;
    if (head.outcome === undefined) {
      const reason = gapIsOver(delivery, left, at, settings);
      if (reason === undefined) return;
      settle(delivery, head, { kind: 'missing', reason }, at);
      released.push({ kind: 'abandoned', utterance: head, reason });
    }
    if (head.outcome === undefined || !mayLeave(head)) return;
    released.push({ kind: 'delivered', delivered: deliver(delivery, head, head.outcome) });
    // The only lane is the list itself, which `deliver` has shortened.
    left = lane === delivery.waiting ? lane : left.slice(1);
  }
}

/** In the order of their first utterances. */
function lanesOf<P extends Deliverable>({ waiting }: Delivery<P>): readonly (readonly P[])[] {
  if (waiting.every(({ lane }) => lane === undefined)) return [waiting];
  const lanes = new Map<string | undefined, P[]>();
  for (const utterance of waiting) {
    const lane = lanes.get(utterance.lane);
    if (lane === undefined) lanes.set(utterance.lane, [utterance]);
    else lane.push(utterance);
  }
  return [...lanes.values()];
}

/** When the first gap is closed by time. Undefined: there is no gap, or the record of its job must be read first. */
export function gapEndsAt<P extends Deliverable>(
  delivery: Delivery<P>,
  settings: DeliverySettings,
): number | undefined {
  // Only a translation is urgent: a client that sends silence after a sentence must not lose the sentence.
  if (delivery.pending.results === 0) return undefined;
  const times = lanesOf(delivery)
    .map((lane) => gapOfLaneEndsAt(lane, settings))
    .filter((time) => time !== undefined);
  return times.length === 0 ? undefined : Math.min(...times);
}

function gapOfLaneEndsAt(lane: readonly Deliverable[], settings: DeliverySettings): number | undefined {
  // An utterance with an outcome is no gap, even if its delivery waits for a save.
  const [head] = lane;
  if (head === undefined || head.outcome !== undefined) return undefined;
  const results = lane.filter(({ outcome }) => outcome?.kind === 'result');
  if (results.length === 0) return undefined;
  const startedAt = Math.min(...results.map(({ readyAt }) => readyAt));
  const closesAt = Math.max(startedAt, idleSince(head, results)) + settings.gapTimeoutMs;
  const endsAt = Math.min(closesAt, startedAt + settings.gapMaxMs);
  // After a store outage or a stall of this instance the result may have been recorded long ago: read the record first.
  return (head.recordReadAt ?? endsAt) < endsAt ? undefined : endsAt;
}

/** Since when no node works on the utterance. Infinite: a node does. */
function idleSince({ work, nodeId }: Deliverable, results: readonly Deliverable[]): number {
  if (work.state === 'none') return work.since;
  if (work.state === 'acknowledged') return Number.POSITIVE_INFINITY;
  // A legacy node sends no result for a text that repeats the one before. Its later answer is the first sign of that.
  const answers = results.filter((later) => later.nodeId === nodeId).map(({ readyAt }) => readyAt);
  return Math.max(work.since, Math.min(...answers));
}

function gapIsOver<P extends Deliverable>(
  { pending }: Delivery<P>,
  lane: readonly P[],
  at: number,
  settings: DeliverySettings,
): MissingReason | undefined {
  if (pending.count > 0 && isOverfull(pending.bytes, lane, settings)) return 'pending_overflow_evict';
  if (pending.results === 0) return undefined;
  const endsAt = gapOfLaneEndsAt(lane, settings);
  return endsAt !== undefined && endsAt <= at ? 'gap_timeout' : undefined;
}

/** Closing the gap of a lane helps only if outcomes wait behind it. */
function isOverfull(bytes: number, lane: readonly Deliverable[], settings: DeliverySettings): boolean {
  if (bytes > settings.maxPendingBytes) return lane.some(({ outcome }) => outcome !== undefined);
  return lane.filter(({ outcome }) => outcome?.kind === 'result').length > settings.maxPendingResults;
}

function deliver<P extends Deliverable>(delivery: Delivery<P>, utterance: P, outcome: Outcome): Delivered<P> {
  delivery.waiting.splice(delivery.waiting.indexOf(utterance), 1);
  utterance.outcome = undefined;
  delivery.pending.count -= 1;
  if (outcome.kind === 'result') delivery.pending.results -= 1;
  delivery.pending.bytes -= weightOf(outcome);
  delivery.deliverySeq += 1;
  return { utterance, outcome, deliverySeq: delivery.deliverySeq };
}

/** Keeps an outcome in case it must be sent again. Bounded: the oldest are dropped and counted. */
export function keep<P extends Deliverable>(
  delivery: Delivery<P>,
  delivered: Delivered<P>,
  settings: DeliverySettings,
): void {
  delivery.kept.push(delivered);
  delivery.keptBytes += weightOf(delivered.outcome);
  while (
    delivery.kept.length > settings.maxKeptResults ||
    (delivery.keptBytes > settings.maxResultBytes && delivery.kept.length > 1)
  ) {
    forgetFirst(delivery);
    delivery.forgotten += 1;
  }
}

/** The kept outcomes to send now: no more unacknowledged bytes on the connection than it takes. */
export function unsent<P extends Deliverable>(
  { kept }: Delivery<P>,
  sentSeq: number,
  { maxPendingBytes }: DeliverySettings,
): readonly Delivered<P>[] {
  const next: Delivered<P>[] = [];
  let sentBytes = 0;
  for (const delivered of kept) {
    const weight = weightOf(delivered.outcome);
    if (delivered.deliverySeq > sentSeq) {
      if (sentBytes > 0 && sentBytes + weight > maxPendingBytes) return next;
      next.push(delivered);
    }
    sentBytes += weight;
  }
  return next;
}

/** The client has received all outcomes up to this one. Returns those that were kept for it. */
export function acknowledge<P extends Deliverable>(
  delivery: Delivery<P>,
  deliverySeq: number,
): readonly Delivered<P>[] {
  const received: Delivered<P>[] = [];
  for (
    let [first] = delivery.kept;
    first !== undefined && first.deliverySeq <= deliverySeq;
    [first] = delivery.kept
  ) {
    received.push(first);
    forgetFirst(delivery);
  }
  return received;
}

function forgetFirst<P extends Deliverable>(delivery: Delivery<P>): void {
  const first = delivery.kept.shift();
  if (first !== undefined) delivery.keptBytes -= weightOf(first.outcome);
}

const ERASED: Outcome = { kind: 'missing', reason: 'job_failed' };

/** Replaces the results of these utterances, delivered or not: their texts are not kept any more. */
export function eraseOutcomes<P extends Deliverable>(
  delivery: Delivery<P>,
  isErased: (utterance: P) => boolean,
): void {
  const { pending } = delivery;
  for (const utterance of delivery.waiting) {
    if (utterance.outcome?.kind !== 'result' || !isErased(utterance)) continue;
    pending.results -= 1;
    pending.bytes += weightOf(ERASED) - weightOf(utterance.outcome);
    utterance.outcome = ERASED;
  }
  for (const [at, delivered] of delivery.kept.entries()) {
    if (delivered.outcome.kind !== 'result' || !isErased(delivered.utterance)) continue;
    delivery.keptBytes += weightOf(ERASED) - weightOf(delivered.outcome);
    delivery.kept[at] = { ...delivered, outcome: ERASED };
  }
}
