/**
 * Hot path: what the ledger keeps of each node, indexed by the shared node number. All figures of a node are neighbours in one array, so
 * that one cache line has them all.
 */
import type { NodeId } from '../../domain/ids.ts';
import { type NodeNumbers, UNNUMBERED } from '../../domain/numbered/node-numbers.ts';

/** Number of live leases, as of the last count. */
export const LEASES = 0;
/** −1: there is no account for this node. */
export const SLOTS = 1;
/** 1: it accepts new jobs. */
export const ACCEPTING = 2;
export const CLAIM = 3;
/** No lease expires before this, so most calls need not check them all. */
export const EARLIEST_EXPIRY = 4;
export const REPORTED = 5;
export const RELEASED_SINCE_REPORT = 6;

export type Figure =
  | typeof LEASES
  | typeof SLOTS
  | typeof ACCEPTING
  | typeof CLAIM
  | typeof EARLIEST_EXPIRY
  | typeof REPORTED
  | typeof RELEASED_SINCE_REPORT;

/** One more than there are figures: the size of a cache line. */
const WIDTH = 8;
const FIRST_ROOM = 16;
const ABSENT = -1;

export class NodeAccounts {
  private readonly numbers: NodeNumbers;
  private figures = new Float64Array(FIRST_ROOM * WIDTH).fill(ABSENT);

  constructor(numbers: NodeNumbers) {
    this.numbers = numbers;
  }

  /** UNNUMBERED: the node has no account. */
  find(nodeId: NodeId): number {
    const node = this.numbers.find(nodeId);
    return node === UNNUMBERED || !(this.read(node, SLOTS) >= 0) ? UNNUMBERED : node;
  }

  /** The caller knows that the node has none. All figures start at 0. */
  open(nodeId: NodeId): number {
    const node = this.numbers.keep(nodeId);
    while ((node + 1) * WIDTH > this.figures.length) this.grow();
    this.figures.fill(0, node * WIDTH, (node + 1) * WIDTH);
    return node;
  }

  close(node: number): void {
    this.write(node, SLOTS, ABSENT);
    this.numbers.drop(node);
  }

  /** Undefined beyond the end of the array. */
  read(node: number, figure: Figure): number {
    return this.figures[node * WIDTH + figure] as number;
  }

  write(node: number, figure: Figure, value: number): void {
    this.figures[node * WIDTH + figure] = value;
  }

  private grow(): void {
    const figures = new Float64Array(2 * this.figures.length).fill(ABSENT, this.figures.length);
    figures.set(this.figures);
    this.figures = figures;
  }
}
