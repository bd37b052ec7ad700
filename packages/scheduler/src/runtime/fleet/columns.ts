/** Hot path: what selection reads of each node, by its number, in typed arrays grown by doubling. */

import { growWords } from '../../domain/bits.ts';
import type { NodeId } from '../../domain/ids.ts';
import { createRoster, type Roster } from './roster.ts';

const START = 64;

export interface Columns {
  readonly ids: (NodeId | undefined)[];
  used: Int32Array;
  max: Int32Array;
  /** max − used, never below 0, and never above what fits: a sample reads many of these, so they are short. */
  free: Uint16Array;
  beatAt: Float64Array;
  /** Bit: would take new work if it had a free slot: ready, fresh, calm, not kept away from. */
  willing: Uint32Array;
  /** Bit: takes new work, as far as its state goes: willing, and with a free slot. */
  usable: Uint32Array;
  /** The same nodes as a list: on a busy fleet the few free ones are found at once. */
  readonly usableRoster: Roster;
  /** Bit: has a queue of its own, so it is taken last. */
  queueing: Uint32Array;
  /** Bit: has said that it is full, a moment ago: whatever the ledger says, nothing is free there. */
  paused: Uint32Array;
  /** Scratch of one synchronous draw. Bit: may not be drawn. */
  barred: Uint32Array;
  /** Whose bits those are. */
  readonly barredList: number[];
  /** Scratch of one synchronous draw: the sample. */
  picked: Int32Array;
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
});

/** Makes room for `index`. The columns never shrink: they are as long as the fleet ever was. */
export function reach(columns: Columns, index: number): void {
  if (index < columns.used.length) return;
  let length = columns.used.length * 2;
  // Numbers are shared with others, who may have given out many before the fleet sees one.
  while (length <= index) length *= 2;
  columns.used = growInts(columns.used, length);
  columns.max = growInts(columns.max, length);
  const free = new Uint16Array(length);
  free.set(columns.free);
  columns.free = free;
  columns.picked = growInts(columns.picked, length);
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
