/** Hot path: outcomes leave in the order of their utterances (I5). Synchronous bookkeeping; time comes in as an argument. */
import { type MissingReason, type Outcome, weightOf } from './outcome.ts';

export interface DeliverySettings {
  readonly gapTimeoutMs: number;
  readonly maxPendingResults: number;
  /** Of what waits here, and of what a client may have under way: leaving all at once, it must fit into its connection. */
  readonly maxPendingBytes: number;
  /** Of what is kept after it left. */
  readonly maxResultBytes: number;
  readonly maxKeptResults: number;
}

/** One accepted utterance, as far as order is concerned. */
export interface Deliverable {
  /** It has had its outcome; that stands. */
  isSettled: boolean;
  /** While it waits for its turn. Gone with the delivery: whoever remembers the utterance must not keep its speech. */
  outcome: Outcome | undefined;
  readyAt: number;
  /** Others decide about it: as of when what they say was read last. Absent: whatever becomes of it is heard here. */
  recordReadAt?: number | undefined;
}

/** Nothing has been read about it yet. */
export const NEVER = Number.NEGATIVE_INFINITY;

export interface Delivered<P extends Deliverable> {
  readonly utterance: P;
  readonly outcome: Outcome;
  /** From 1, without holes. */
  readonly deliverySeq: number;
}

export interface Delivery<P extends Deliverable> {
  /** Accepted and not delivered, in the order of acceptance. */
  readonly waiting: P[];
  /** Ready and waiting for their turn; `results`: those of them that are more than a word. */
  readonly pending: { count: number; results: number; bytes: number };
  /** Delivered, until acknowledged: what a client that comes back has perhaps not received. */
  readonly kept: Delivered<P>[];
  keptBytes: number;
  deliverySeq: number;
  /** Kept ones that were forgotten because there were too many. */
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

/** False: it has its outcome already, and that stands. */
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

/** `given_up`: its job is still somewhere and must be fenced. */
export type Released<P extends Deliverable> =
  | { readonly kind: 'delivered'; readonly delivered: Delivered<P> }
  | { readonly kind: 'abandoned'; readonly utterance: P; readonly reason: MissingReason };

/** What may leave now: everything up to the first gap, and past it if it has lasted or held up too much. */
export function release<P extends Deliverable>(
  delivery: Delivery<P>,
  at: number,
  settings: DeliverySettings,
  mayLeave: (utterance: P) => boolean = () => true,
): readonly Released<P>[] {
  const released: Released<P>[] = [];
  for (;;) {
    const [head] = delivery.waiting;
    if (head === undefined) return released;
    if (head.outcome !== undefined) {
      if (!mayLeave(head)) return released;
      released.push({ kind: 'delivered', delivered: deliver(delivery, head, head.outcome) });
      continue;
    }
    const reason = gapIsOver(delivery, at, settings);
    if (reason === undefined) return released;
    settle(delivery, head, { kind: 'missing', reason }, at);
    released.push({ kind: 'abandoned', utterance: head, reason });
  }
}

/** When a gap is closed if nothing happens before. None: it is not closed before its job was looked at once more, see below. */
export function gapEndsAt<P extends Deliverable>(
  delivery: Delivery<P>,
  settings: DeliverySettings,
): number | undefined {
  // One that is ready itself is no gap, whatever else it waits for.
  const head = delivery.waiting[0];
  if (delivery.pending.count === 0 || head === undefined || head.outcome !== undefined) return undefined;
  const ready = delivery.waiting.filter(({ outcome }) => outcome !== undefined);
  const endsAt = Math.min(...ready.map(({ readyAt }) => readyAt)) + settings.gapTimeoutMs;
  // A store that could not be asked, or an instance that stood still: the result may have been there for long.
  return (head.recordReadAt ?? endsAt) < endsAt ? undefined : endsAt;
}

function gapIsOver<P extends Deliverable>(
  delivery: Delivery<P>,
  at: number,
  settings: DeliverySettings,
): MissingReason | undefined {
  const { count, results, bytes } = delivery.pending;
  if (results > settings.maxPendingResults || (count > 0 && bytes > settings.maxPendingBytes)) {
    return 'pending_overflow_evict';
  }
  const endsAt = gapEndsAt(delivery, settings);
  return endsAt !== undefined && endsAt <= at ? 'gap_timeout' : undefined;
}

function deliver<P extends Deliverable>(delivery: Delivery<P>, utterance: P, outcome: Outcome): Delivered<P> {
  delivery.waiting.shift();
  utterance.outcome = undefined;
  delivery.pending.count -= 1;
  if (outcome.kind === 'result') delivery.pending.results -= 1;
  delivery.pending.bytes -= weightOf(outcome);
  delivery.deliverySeq += 1;
  return { utterance, outcome, deliverySeq: delivery.deliverySeq };
}

/** The client may have to be told again. Bounded: the oldest are forgotten, and counted. */
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

/** Those the client may be told now: no more under way, told and not acknowledged, than its connection takes. */
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

/** All up to this one have arrived. */
export function acknowledge<P extends Deliverable>(delivery: Delivery<P>, deliverySeq: number): void {
  while ((delivery.kept[0]?.deliverySeq ?? Number.POSITIVE_INFINITY) <= deliverySeq) forgetFirst(delivery);
}

function forgetFirst<P extends Deliverable>(delivery: Delivery<P>): void {
  const first = delivery.kept.shift();
  if (first !== undefined) delivery.keptBytes -= weightOf(first.outcome);
}
