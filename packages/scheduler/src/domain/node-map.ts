/** Hot path: something kept of nodes, found by the number that all who keep something of a node share. */
import type { NodeId } from './ids.ts';
import { type NodeNumbers, UNNUMBERED } from './node-numbers.ts';

export class NodeMap<V> {
  private readonly numbers: NodeNumbers;
  private readonly held: (V | undefined)[] = [];
  private count = 0;

  constructor(numbers: NodeNumbers) {
    this.numbers = numbers;
  }

  get size(): number {
    return this.count;
  }

  get(nodeId: NodeId): V | undefined {
    const number = this.numbers.find(nodeId);
    return number === UNNUMBERED ? undefined : this.held[number];
  }

  /** Answers the number under which it is kept. */
  set(nodeId: NodeId, value: V): number {
    const known = this.numbers.find(nodeId);
    const isHeld = known !== UNNUMBERED && this.held[known] !== undefined;
    const number = isHeld ? known : this.numbers.keep(nodeId);
    if (!isHeld) this.count += 1;
    // Without holes: what is beyond the end is written in order.
    while (this.held.length < number) this.held.push(undefined);
    this.held[number] = value;
    return number;
  }

  /** False: it was not there. */
  delete(nodeId: NodeId): boolean {
    const number = this.numbers.find(nodeId);
    if (number === UNNUMBERED || this.held[number] === undefined) return false;
    this.held[number] = undefined;
    this.count -= 1;
    this.numbers.drop(number);
    return true;
  }
}
