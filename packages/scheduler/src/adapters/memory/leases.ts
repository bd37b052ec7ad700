/**
 * Hot path: the leases of all nodes, found by name and walked node by node. One map for all of them: a small map per node, where a few
 * leases come and go all the time, would be built anew again and again.
 */

import { numberIn } from '../../domain/job-name.ts';
import type { LeaseId } from '../../domain/lease.ts';
import { NumberedMap } from '../../domain/numbered-map.ts';

/** Whoever leases are held on. */
export interface Holder {
  first: Lease | undefined;
  leases: number;
}

export interface Lease {
  readonly id: LeaseId;
  readonly holder: Holder;
  expiresAt: number;
  /** When it was first fenced; -1: it is not. */
  fencedAt: number;
  /** When it was first committed; -1: it is only reserved. */
  takenAt: number;
  /** Held when the node last reported: only such a one can be among the jobs it counted. */
  isReported: boolean;
  /** Neighbours on the same node. */
  before: Lease | undefined;
  after: Lease | undefined;
  /** A lease of the same name on another node: seldom, and never many. */
  namesake: Lease | undefined;
}

export interface Leases {
  find(holder: Holder, id: LeaseId): Lease | undefined;
  /** The caller knows that the holder has none of that name. */
  add(holder: Holder, id: LeaseId, expiresAt: number): void;
  remove(lease: Lease): void;
}

export const UNFENCED = -1;
export const UNTAKEN = -1;

export function createLeases(): Leases {
  const byName = new NumberedMap<Lease>(numberIn);

  function forgetName(lease: Lease): void {
    const { id, namesake } = lease;
    const first = byName.get(id);
    if (first === lease) {
      if (namesake === undefined) byName.delete(id);
      else byName.set(id, namesake);
      return;
    }
    for (let other = first; other !== undefined; other = other.namesake) {
      if (other.namesake === lease) other.namesake = namesake;
    }
  }

  return {
    find(holder, id) {
      let lease = byName.get(id);
      while (lease !== undefined && lease.holder !== holder) lease = lease.namesake;
      return lease;
    },
    add(holder, id, expiresAt) {
      const { first } = holder;
      const lease: Lease = {
        id,
        holder,
        expiresAt,
        fencedAt: UNFENCED,
        takenAt: UNTAKEN,
        isReported: false,
        before: undefined,
        after: first,
        namesake: byName.get(id),
      };
      if (first !== undefined) first.before = lease;
      holder.first = lease;
      holder.leases += 1;
      byName.set(id, lease);
    },
    remove(lease) {
      const { holder, before, after } = lease;
      if (before === undefined) holder.first = after;
      else before.after = after;
      if (after !== undefined) after.before = before;
      holder.leases -= 1;
      forgetName(lease);
      // What is dropped must not point at what lives: the collector would take that for old.
      lease.before = undefined;
      lease.after = undefined;
      lease.namesake = undefined;
    },
  };
}
