/** The faults of a history, each with its end, and what they excuse. Pure. */
import { type FaultKind, type HistoryEvent, ofKind } from '../../../packages/simulation/dist/history.js';
import { createSpans, type Span, type Spans } from './spans.ts';
import type { Allowances } from './violation.ts';

export interface Fault {
  readonly number: number;
  readonly what: FaultKind;
  readonly target: string;
  readonly beganAt: number;
  /** Infinity: it never ended. */
  readonly endedAt: number;
  readonly lossMs?: number;
}

export function faultsOf(history: readonly HistoryEvent[]): Fault[] {
  const ends = new Map(ofKind(history, 'fault_ended').map(({ fault, at }) => [fault, at]));
  return ofKind(history, 'fault_began').map(({ fault, what, target, at, lossMs }) => ({
    number: fault,
    what,
    target,
    beganAt: at,
    endedAt: ends.get(fault) ?? Number.POSITIVE_INFINITY,
    ...(lossMs !== undefined && { lossMs }),
  }));
}

/** What each fault loses: earlier writes, or only time. */
const LOSES_WRITES: readonly FaultKind[] = [
  'master_killed',
  'master_frozen',
  'shard_failed_over',
  'store_down',
  'store_emptied',
];
const DISTURBS_STORE: readonly FaultKind[] = [
  ...LOSES_WRITES,
  'shard_frozen',
  'shard_lossy',
  'instance_cut_off',
  'store_cut',
  'store_slow',
  'slots_moved',
];
/** A dead master is replaced; the other faults are over when they have ended. */
const IS_REPLACED: readonly FaultKind[] = ['master_killed', 'master_frozen'];

/** A time in which acknowledged writes may be missing. */
export interface Loss extends Span {
  readonly beganAt: number;
  /** When the missing writes were made. */
  readonly written: Span;
}

export function lossesOf(
  faults: readonly Fault[],
  { failoverMs, lossMs, isExact }: Pick<Allowances, 'failoverMs' | 'lossMs' | 'isExact'>,
): Loss[] {
  return faults.filter(losesWrites(lossMs)).map((fault) => ({
    beganAt: fault.beganAt,
    // An emptied store has lost everything.
    from: fault.what === 'store_emptied' ? 0 : fault.beganAt - (fault.lossMs ?? lossMs),
    to: (IS_REPLACED.includes(fault.what) ? fault.beganAt : fault.endedAt) + failoverMs,
    written: writtenIn(fault, isExact, lossMs),
  }));
}

/** Also where no acknowledged write is ever lost, an emptied store has lost all of them. */
const losesWrites =
  (lossMs: number) =>
  ({ what }: Fault): boolean =>
    lossMs === 0 ? what === 'store_emptied' : LOSES_WRITES.includes(what);

/** Whether a write is missing now that was known at `knownAt` and made at most `waysMs` before. */
export const isLost = (loss: Loss, receivedAt: number, now: number, flightMs: number, waysMs = 0): boolean =>
  loss.beganAt <= now && now <= loss.to && wasWritten(loss, receivedAt - waysMs, receivedAt, flightMs);

/** Whether a write that was made between the two may be among the lost ones. */
export const wasWritten = ({ written }: Loss, from: number, to: number, flightMs: number): boolean =>
  written.from - flightMs <= to && from <= written.to + flightMs;

/** A master that dies loses what it has not replicated; the simulated one stops replicating first, and dies later. */
function writtenIn({ what, beganAt, lossMs }: Fault, isExact: boolean, mostMs: number): Span {
  if (what === 'store_emptied') return { from: 0, to: beganAt };
  return isExact
    ? { from: beganAt, to: beganAt + (lossMs ?? 0) }
    : { from: beganAt - (lossMs ?? mostMs), to: beganAt };
}

/** Whether an outcome of that time may be among the writes that a failover lost. */
export function lostWrites(
  faults: readonly Fault[],
  allowances: Pick<Allowances, 'lossMs' | 'flightMs'>,
): (sentAt: number) => boolean {
  const { lossMs, flightMs } = allowances;
  const spans = createSpans(
    faults.filter(losesWrites(lossMs)).map(({ what, beganAt, lossMs: own = lossMs }) => ({
      from: what === 'store_emptied' ? 0 : beganAt - own,
      to: beganAt + own + flightMs,
    })),
  );
  return spans.has;
}

export const isOf = (...kinds: readonly FaultKind[]): ((fault: Fault) => boolean) => {
  const wanted = new Set(kinds);
  return ({ what }) => wanted.has(what);
};

/** While these faults lasted, and for a while after. */
export const spansOf = (
  faults: readonly Fault[],
  isMeant: (fault: Fault) => boolean,
  { before = 0, after = 0 } = {},
): Spans =>
  createSpans(
    faults.filter(isMeant).map(({ beganAt, endedAt }) => ({ from: beganAt - before, to: endedAt + after })),
  );

export const disturbsStore = isOf(...DISTURBS_STORE);
const isOfInstance = ({ what }: Fault): boolean => what.startsWith('instance_');
const isOfStore = (fault: Fault): boolean => disturbsStore(fault) && !isOfInstance(fault);

/**
 * When an answer of this instance may have been delayed by a fault of the instance, of the store, or of the kinds in `besides`. If
 * the answering instance is unknown, or on real machines, faults of any instance count.
 */
export function brokenAround(
  faults: readonly Fault[],
  { isExact, presenceMs, recoverMs }: Allowances,
  besides: (fault: Fault) => boolean = () => false,
): (instance: string | undefined) => Spans {
  const after = isExact ? presenceMs : recoverMs;
  const known = new Map<string | undefined, Spans>();
  return (instance) => {
    const name = isExact ? instance : undefined;
    let spans = known.get(name);
    if (spans === undefined) {
      const isInvolved = (fault: Fault): boolean =>
        isOfInstance(fault)
          ? name === undefined || fault.target === name
          : isOfStore(fault) || besides(fault);
      spans = spansOf(faults, isInvolved, { after });
      known.set(name, spans);
    }
    return spans;
  };
}

/**
 * When a node or client had faults of these kinds. A fault of `node-3` is one of every process of it, such as `node-3.7`; one of `*`
 * is one of all.
 */
export function hitsOf(
  faults: readonly Fault[],
  isMeant: (fault: Fault) => boolean,
): (name: string) => Spans | undefined {
  const byTarget = new Map<string, Span[]>();
  for (const { target, beganAt: from, endedAt: to } of faults.filter(isMeant)) {
    const spans = byTarget.get(target);
    if (spans === undefined) byTarget.set(target, [{ from, to }]);
    else spans.push({ from, to });
  }
  const all = byTarget.get('*') ?? [];
  const spans = new Map([...byTarget].map(([target, own]) => [target, createSpans([...own, ...all])]));
  const ofAll = spans.get('*');
  return (name) => spans.get(name) ?? spans.get(familyOf(name)) ?? ofAll;
}

export const familyOf = (name: string): string => {
  const dot = name.lastIndexOf('.');
  return dot === -1 ? name : name.slice(0, dot);
};
