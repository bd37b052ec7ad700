/** Hot path: node ids to dense numbers. The lowest free number is given first, so that the bitmaps stay dense. */
import type { NodeId } from '../../domain/ids.ts';
import { growWords, lowestOne, putBit } from './bits.ts';

export interface Numbering {
  /** −1 = not numbered. */
  indexOf(nodeId: NodeId): number;
  give(nodeId: NodeId): number;
  /** The number may be given to another node at once. */
  takeBack(nodeId: NodeId): void;
  size(): number;
}

export function createNumbering(): Numbering {
  const numbers = new Map<NodeId, number>();
  let taken = new Uint32Array(2);
  /** No word before this one has a free number. */
  let firstOpen = 0;

  return {
    indexOf: (nodeId) => numbers.get(nodeId) ?? -1,
    give(nodeId) {
      while (firstOpen < taken.length && taken[firstOpen] === 0xffffffff) firstOpen += 1;
      if (firstOpen === taken.length) taken = growWords(taken, taken.length * 2) as typeof taken;
      const index = firstOpen * 32 + lowestOne(~(taken[firstOpen] as number));
      putBit(taken, index, true);
      numbers.set(nodeId, index);
      return index;
    },
    takeBack(nodeId) {
      const index = numbers.get(nodeId);
      if (index === undefined) return;
      numbers.delete(nodeId);
      putBit(taken, index, false);
      firstOpen = Math.min(firstOpen, index >>> 5);
    },
    size: () => numbers.size,
  };
}
