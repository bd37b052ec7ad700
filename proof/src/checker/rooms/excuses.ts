/** Which faults excuse what in rooms. Pure. */
import type { Facts } from '../facts.ts';
import { disturbsStore, hitsOf, lossesOf, spansOf, wasWritten } from '../faults.ts';
import type { Allowances } from '../violation.ts';

export interface Excuses {
  /** Entries of a log that were written between the two may be lost. */
  isLost(from: number, to: number): boolean;
  /** So may the list of a room's members, until its instances have written it again. */
  isListLost(from: number, to: number): boolean;
  /** Instances, the store or the whole network did not work as usual. */
  isDisturbed(from: number, to: number): boolean;
  /** Nor did this node or client. */
  isHit(name: string, from: number, to: number): boolean;
}

export function createExcuses({ faults }: Pick<Facts, 'faults'>, allowances: Allowances): Excuses {
  const { flightMs, recoverMs } = allowances;
  const losses = lossesOf(faults, allowances);
  const disturbed = spansOf(
    faults,
    (fault) => disturbsStore(fault) || fault.what.startsWith('instance_') || fault.what === 'network_bad',
    { before: flightMs, after: recoverMs },
  );
  const hits = hitsOf(faults, ({ what }) => what.startsWith('node_') || what.startsWith('client_'));
  return {
    isLost: (from, to) => losses.some((loss) => wasWritten(loss, from, to, flightMs)),
    isListLost: (from, to) => losses.some((loss) => loss.beganAt - flightMs <= to && from <= loss.to),
    isDisturbed: disturbed.meets,
    isHit: (name, from, to) => hits(name)?.meets(from - recoverMs, to) === true,
  };
}
