/**
 * Hot path: which of the slots that this instance took on nodes of others need nobody else to keep them any more.
 *
 * Each assignment to another instance's node has a number. Up to which number all slots last by themselves, or are over, is said with
 * every renewal of this instance's presence: a holder that knows so need not keep them (slot-keeping.ts). What is not known to last
 * holds that back until its reservation has ended, and then holders keep what comes after it, too: too often does no harm.
 */
import type { NodeId } from '../../domain/ids.ts';
import type { LeaseId } from '../../domain/lease.ts';

export interface LastingSlots {
  /** An assignment leaves for another instance's node, with a slot that is reserved until then. Answers its number. */
  left(nodeId: NodeId, lease: LeaseId, slotUntil: number): number;
  /** Its lease lasts as long as it may run, or the slot is given back, or the attempt given up. */
  settled(nodeId: NodeId, lease: LeaseId): void;
  /** The number up to which all are settled, or have ended. */
  upTo(): number;
  size(): number;
}

export function createLastingSlots(deps: { now: () => number }): LastingSlots {
  /** In the order of their numbers. An attempt that did not leave may be made again on another node, under the same name. */
  const open = new Map<string, { readonly number: number; readonly slotUntil: number }>();
  let last = 0;

  function forgetEnded(): void {
    const now = deps.now();
    for (const [name, { slotUntil }] of open) {
      if (slotUntil > now) return;
      open.delete(name);
    }
  }

  return {
    left(nodeId, lease, slotUntil) {
      forgetEnded();
      last += 1;
      const name = nameOf(nodeId, lease);
      // Behind the others, also if it left before.
      open.delete(name);
      open.set(name, { number: last, slotUntil });
      return last;
    },
    settled: (nodeId, lease) => void open.delete(nameOf(nodeId, lease)),
    upTo() {
      forgetEnded();
      for (const { number } of open.values()) return number - 1;
      return last;
    },
    size: () => open.size,
  };
}

const nameOf = (nodeId: NodeId, lease: LeaseId): string => `${lease}@${nodeId}`;
