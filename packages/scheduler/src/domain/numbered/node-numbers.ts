/**
 * Hot path: a small number for each node that somebody keeps something of, the same for all who do. A decision is about one node of many, of
 * which nothing is at hand: each of those who keep something of it would look its name up in a table of its own, all of them far away. Here it
 * is looked up once, or not at all if it was chosen by its number.
 *
 * A number is given back when nobody keeps anything under it any more, and is then given to another node.
 */
import type { NodeId } from '../ids.ts';

/** Nobody keeps anything of that node. */
export const UNNUMBERED = -1;

/** The name of no node. A text like all others: to compare it with one costs nothing. */
const NOBODY: NodeId = '\u0000';

export class NodeNumbers {
  private readonly numbers = new Map<NodeId, number>();
  /** By number, and so are the following. */
  private readonly ids: NodeId[] = [];
  /** How many keep something under it. */
  private readonly keepers: number[] = [];
  private readonly free: number[] = [];
  /** The one that was asked for last: nearly always the next one, too. */
  private lastId = NOBODY;
  private last = UNNUMBERED;

  find(nodeId: NodeId): number {
    return nodeId === this.lastId ? this.last : this.look(nodeId);
  }

  /** Of a number that is in use. What comes next will be about this node. */
  nameOf(number: number): NodeId {
    const nodeId = this.ids[number] as NodeId;
    this.lastId = nodeId;
    this.last = number;
    return nodeId;
  }

  /** Something is kept of this node from now on. As often as it is said, `drop` has to be said. */
  keep(nodeId: NodeId): number {
    const known = this.find(nodeId);
    if (known !== UNNUMBERED) {
      this.keepers[known] = (this.keepers[known] as number) + 1;
      return known;
    }
    const number = this.free.pop() ?? this.ids.length;
    this.ids[number] = nodeId;
    this.keepers[number] = 1;
    this.numbers.set(nodeId, number);
    this.forgetLast();
    return number;
  }

  drop(number: number): void {
    const left = (this.keepers[number] as number) - 1;
    this.keepers[number] = left;
    if (left > 0) return;
    this.numbers.delete(this.ids[number] as NodeId);
    this.ids[number] = '';
    this.free.push(number);
    this.forgetLast();
  }

  /** How many nodes have one. */
  get size(): number {
    return this.numbers.size;
  }

  private forgetLast(): void {
    this.lastId = NOBODY;
    this.last = UNNUMBERED;
  }

  private look(nodeId: NodeId): number {
    const number = this.numbers.get(nodeId) ?? UNNUMBERED;
    this.lastId = nodeId;
    this.last = number;
    return number;
  }
}
