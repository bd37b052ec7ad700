/**
 * Hot path: what the ledger keeps of each node, by the number that all who keep something of a node share. All figures of a node are
 * neighbours in one array: a decision is about one node of many, of which nothing is at hand, and what is fetched of it brings the rest along.
 */
import type { NodeId } from '../../domain/ids.ts';
import { type NodeNumbers, UNNUMBERED } from '../../domain/numbered/node-numbers.ts';

/** How many leases are live, as far as was looked. */
export const LEASES = 0;
/** −1: nothing is kept of this node. */
export const SLOTS = 1;
/** 1: it takes new work. */
export const ACCEPTING = 2;
export const CLAIM = 3;
/** No lease expires before this, so most calls need not look at them all. */
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

/** One more than there are figures: as much as is fetched at once. */
const WIDTH = 8;
const FIRST_ROOM = 16;
const ABSENT = -1;

export class NodeAccounts {
  private readonly numbers: NodeNumbers;
  private figures = new Float64Array(FIRST_ROOM * WIDTH).fill(ABSENT);

  constructor(numbers: NodeNumbers) {
    this.numbers = numbers;
  }

  /** UNNUMBERED: it has no account. */
  find(nodeId: NodeId): number {
    const node = this.numbers.find(nodeId);
    return node === UNNUMBERED || !(this.read(node, SLOTS) >= 0) ? UNNUMBERED : node;
  }

  /** The caller knows that it has none. All its figures are 0. */
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

  /** Undefined beyond everything that was ever kept. */
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
