/**
 * Port: which node ids exist and which connection is each one's newest.
 *
 * The law: a generation is given once and only grows; the newest claim with the same credential wins; another
 * credential never gets a living id. A `release` with an old generation changes nothing.
 */
import type { NodeId } from '../domain/ids.ts';

export type ClaimResult =
  /** `isReturning`: the id was known before. */
  | { readonly kind: 'claimed'; readonly generation: number; readonly isReturning: boolean }
  | { readonly kind: 'conflict' }
  | { readonly kind: 'full' };

export interface NodeIdClaims {
  claim(nodeId: NodeId, credential: string): Promise<ClaimResult>;
  /** The generation that currently holds the id. */
  current(nodeId: NodeId): Promise<number | undefined>;
  /**
   * A claim that was given is written again: the directory may have lost it, or the last steps towards it. False: the id is
   * another credential's, or has a later generation; then nothing changes.
   */
  restore(nodeId: NodeId, credential: string, generation: number): Promise<boolean>;
  /** Forgets the id, if `generation` is still the newest. */
  release(nodeId: NodeId, generation: number): Promise<boolean>;
}
