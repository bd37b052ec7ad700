/**
 * Hot path: a small number for each node, shared by all tables about nodes. Without it each table would look up the node id in its own
 * large map, which is a cache miss each. With it the id is looked up once, or not at all if selection already has the number.
 *
 * A number is reused for another node when no table keeps anything under it.
 */
import type { NodeId } from '../ids.ts';

/** No table keeps anything of that node. */
export const UNNUMBERED = -1;

/** The id of no node. A text like all others, so comparing costs nothing. */
const NO_NODE: NodeId = '\u0000';

export class NodeNumbers {
  private readonly numbers = new Map<NodeId, number>();
  /** By number, as are the following. */
  private readonly ids: NodeId[] = [];
  /** How many tables keep something under the number. */
  private readonly keepers: number[] = [];
  private readonly free: number[] = [];
  /** The last looked-up node: usually the next one, too. */
  private lastId = NO_NODE;
  private last = UNNUMBERED;

  find(nodeId: NodeId): number {
    return nodeId === this.lastId ? this.last : this.look(nodeId);
  }

  /** The number must be in use. The next lookup will probably be for this node. */
  nameOf(number: number): NodeId {
    const nodeId = this.ids[number] as NodeId;
    this.lastId = nodeId;
    this.last = number;
    return nodeId;
  }

  /** A table keeps something of this node from now on. Each call needs one call of `drop`. */
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

  /** How many nodes have a number. */
  get size(): number {
    return this.numbers.size;
  }

  private forgetLast(): void {
    this.lastId = NO_NODE;
    this.last = UNNUMBERED;
  }

  private look(nodeId: NodeId): number {
    const number = this.numbers.get(nodeId) ?? UNNUMBERED;
    this.lastId = nodeId;
    this.last = number;
    return number;
  }
}
