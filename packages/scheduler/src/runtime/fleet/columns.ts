/** Hot path: what selection reads of each node, by node number, in typed arrays that grow by doubling. */

import { growWords } from '../../domain/bits.ts';
import type { NodeId } from '../../domain/ids.ts';
import { createRoster, type Roster } from './roster.ts';

const START = 64;

export interface Columns {
  readonly ids: (NodeId | undefined)[];
  used: Int32Array;
  max: Int32Array;
  /** max − used, between 0 and MAX_FREE: a sample reads many of these, so they have 16 bits. */
  free: Uint16Array;
  beatAt: Float64Array;
  /** Bit: would take new jobs if it had a free slot: ready, connected, fresh, calm, neither cordoned nor ejected. */
  willing: Uint32Array;
  /** Bit: takes new jobs: willing, and with a free slot. */
  usable: Uint32Array;
  /** The same nodes as a list: on a busy fleet the few free nodes are found at once. */
  readonly usableRoster: Roster;
  /** Bit: has its own queue, so it is chosen last. */
  queueing: Uint32Array;
  /** Bit: has just rejected a job as overloaded: it counts as full, whatever the ledger says. */
  paused: Uint32Array;
  /** Scratch of one synchronous draw. Bit: must not be drawn. */
  barred: Uint32Array;
  /** The numbers of the set bits. */
  readonly barredList: number[];
  /** Scratch of one synchronous draw: the sample. */
  picked: Int32Array;
  /** Scratch of one synchronous draw: what each node of the sample costs, by its place in the sample. */
  costs: Float64Array;
}

export const createColumns = (): Columns => ({
  ids: [],
  used: new Int32Array(START),
  max: new Int32Array(START),
  free: new Uint16Array(START),
  beatAt: new Float64Array(START),
  willing: new Uint32Array(START / 32),
  usable: new Uint32Array(START / 32),
  usableRoster: createRoster(new Int32Array(START)),
  queueing: new Uint32Array(START / 32),
  paused: new Uint32Array(START / 32),
  barred: new Uint32Array(START / 32),
  barredList: [],
  picked: new Int32Array(START),
  costs: new Float64Array(START),
});

/** Makes room for `index`. The columns never shrink: their length is the largest fleet so far. */
export function reach(columns: Columns, index: number): void {
  if (index < columns.used.length) return;
  let length = columns.used.length * 2;
  // Other tables use the same numbers and may have assigned many before the fleet gets one.
  while (length <= index) length *= 2;
  columns.used = growInts(columns.used, length);
  columns.max = growInts(columns.max, length);
  const free = new Uint16Array(length);
  free.set(columns.free);
  columns.free = free;
  columns.picked = growInts(columns.picked, length);
  columns.costs = new Float64Array(length);
  columns.usableRoster.places = growInts(columns.usableRoster.places as Int32Array, length);
  const beatAt = new Float64Array(length);
  beatAt.set(columns.beatAt);
  columns.beatAt = beatAt;
  columns.willing = growWords(columns.willing, length / 32);
  columns.usable = growWords(columns.usable, length / 32);
  columns.queueing = growWords(columns.queueing, length / 32);
  columns.paused = growWords(columns.paused, length / 32);
  columns.barred = growWords(columns.barred, length / 32);
}

function growInts(column: Int32Array, length: number): Int32Array {
  const grown = new Int32Array(length);
  grown.set(column);
  return grown;
}
