/** The faults of a history, each with its end. Pure. */
import {
  type FaultKind,
  type Happening,
  ofKind,
} from '../../../packages/scheduler/dist/simulation/history.js';

export interface Fault {
  readonly number: number;
  readonly what: FaultKind;
  readonly target: string;
  readonly beganAt: number;
  /** Infinity: it never ended. */
  readonly endedAt: number;
}

export function faultsOf(history: readonly Happening[]): Fault[] {
  const ends = new Map(ofKind(history, 'fault_ended').map(({ fault, at }) => [fault, at]));
  return ofKind(history, 'fault_began').map(({ fault, what, target, at }) => ({
    number: fault,
    what,
    target,
    beganAt: at,
    endedAt: ends.get(fault) ?? Number.POSITIVE_INFINITY,
  }));
}

const LOSES_WRITES: readonly FaultKind[] = ['master_killed', 'master_frozen', 'store_down'];

/** When Redis may have lost what it had acknowledged, and until when nobody may have noticed. */
export const lossWindows = (history: readonly Happening[], failoverMs: number): Fault[] =>
  faultsOf(history)
    .filter(({ what }) => LOSES_WRITES.includes(what))
    .map((fault) => ({
      ...fault,
      // A master that is gone is replaced while it is gone; all of them together only when they are back.
      endedAt: (fault.what === 'store_down' ? fault.endedAt : fault.beganAt) + failoverMs,
    }));

export const covers = (fault: Fault, at: number): boolean => fault.beganAt <= at && at <= fault.endedAt;

interface Span {
  readonly from: number;
  readonly to: number;
}

/** How long no instance lived, within a span of time. Frozen ones do not live. */
export function lifelessMs(history: readonly Happening[], { from, to }: Span): number {
  let living = 0;
  let since: number | undefined;
  let total = 0;
  const change = (at: number, by: number): void => {
    if (living === 0 && since !== undefined) total += Math.max(0, Math.min(at, to) - Math.max(since, from));
    living += by;
    since = living === 0 ? at : undefined;
  };
  for (const { at, by } of changesOf(history)) change(at, by);
  change(to, 0);
  return total;
}

function changesOf(history: readonly Happening[]): { at: number; by: number }[] {
  const lives = ofKind(history, 'instance_up', 'instance_down').map(({ kind, at }) => ({
    at,
    by: kind === 'instance_up' ? 1 : -1,
  }));
  const freezes = faultsOf(history)
    .filter(({ what }) => what === 'instance_frozen')
    .flatMap(({ beganAt, endedAt }) => [
      { at: beganAt, by: -1 },
      { at: endedAt, by: 1 },
    ]);
  return [...lives, ...freezes].sort((one, other) => one.at - other.at);
}
