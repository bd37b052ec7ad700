/**
 * Hot path: the leases of all nodes, found by id or by node. A lease is an index into arrays and not an object: hundreds of thousands of
 * linked objects are expensive for the garbage collector.
 */

import type { LeaseId } from '../../domain/lease.ts';
import { numberIn } from '../../domain/numbered/job-name.ts';
import { NodeChains } from '../../domain/numbered/node-chains.ts';
import { NOWHERE, NumberedPlaces } from '../../domain/numbered/numbered-places.ts';

/** The lease is not abandoned, or not committed. */
export const UNMARKED = -1;

export class Leases {
  /** Expiry; indexed by place, like all arrays here. */
  expiresAt = new Float64Array(0);
  /** When its attempt was abandoned. */
  abandonedAt = new Float64Array(0);
  /** When it was first committed; until then it is only reserved. */
  committedAt = new Float64Array(0);
  /** 1: it was held at the last report of the node. Only such a lease can be among the jobs in the report. */
  isReported = new Uint8Array(0);
  /** Number of its node. */
  private nodes = new Int32Array(0);
  private readonly places = new NumberedPlaces(numberIn);
  private readonly chains = new NodeChains();

  /** NOWHERE: the node has no lease with that id, though another node may. */
  find(node: number, id: LeaseId): number {
    let place = this.places.find(id);
    while (place !== NOWHERE && this.nodes[place] !== node) place = this.places.another(place);
    return place;
  }

  /** The first lease of a node; the others follow by `after`. */
  first(node: number): number {
    return this.chains.first(node);
  }

  after(place: number): number {
    return this.chains.after(place);
  }

  idAt(place: number): LeaseId {
    return this.places.keyAt(place) ?? '';
  }

  /** The caller knows that the node has no lease with that id. */
  add(node: number, id: LeaseId, expiresAt: number): void {
    const place = this.places.take(id);
    if (place >= this.nodes.length) this.grow();
    this.nodes[place] = node;
    this.expiresAt[place] = expiresAt;
    this.abandonedAt[place] = UNMARKED;
    this.committedAt[place] = UNMARKED;
    this.isReported[place] = 0;
    this.chains.add(node, place);
  }

  remove(place: number): void {
    this.chains.remove(this.nodes[place] as number, place);
    this.places.leave(place);
  }

  private grow(): void {
    const { room } = this.places;
    const longer = (column: Float64Array): Float64Array<ArrayBuffer> => {
      const grown = new Float64Array(room);
      grown.set(column);
      return grown;
    };
    this.expiresAt = longer(this.expiresAt);
    this.abandonedAt = longer(this.abandonedAt);
    this.committedAt = longer(this.committedAt);
    const [nodes, isReported] = [new Int32Array(room), new Uint8Array(room)];
    nodes.set(this.nodes);
    isReported.set(this.isReported);
    this.nodes = nodes;
    this.isReported = isReported;
  }
}
