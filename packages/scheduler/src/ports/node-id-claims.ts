/**
 * Port: which node ids exist, and the newest connection of each.
 *
 * The law: a generation is given once and only grows; the newest claim with the same credential wins; another credential never gets an id
 * in use. A `release` with an old generation changes nothing. Orders stay with the id until they are replaced, also after a release, for weeks.
 */
import type { NodeId } from '../domain/ids.ts';
import type { NodeOrders } from '../domain/node.ts';

export type ClaimResult =
  /** `isReturning`: the id was known before. */
  | {
      readonly kind: 'claimed';
      readonly generation: number;
      readonly isReturning: boolean;
      readonly orders?: NodeOrders;
    }
  | { readonly kind: 'conflict' }
  | { readonly kind: 'full' };

export interface NodeIdClaims {
  claim(nodeId: NodeId, credential: string): Promise<ClaimResult>;
  /** The generation that currently holds the id. */
  current(nodeId: NodeId): Promise<number | undefined>;
  /**
   * Writes a given claim again, because the store may have lost it or the last steps towards it. False: the id belongs to another
   * credential or has a later generation; then nothing changes.
   */
  restore(nodeId: NodeId, credential: string, generation: number): Promise<boolean>;
  /** Replaces the orders for the node; undefined: none. False: there is a later generation; then nothing changes. */
  keepOrders(nodeId: NodeId, generation: number, orders: NodeOrders | undefined): Promise<boolean>;
  /** Removes the id, if `generation` is still the newest. */
  release(nodeId: NodeId, generation: number): Promise<boolean>;
}
