/**
 * Hot path: which places (`numbered-places.ts`) belong to which node, as linked lists of numbers. With linked objects old ones would point
 * at new ones all the time, and the garbage collector follows each such pointer.
 */
import { NOWHERE } from './numbered-places.ts';

const FIRST_ROOM = 16;

export class NodeChains {
  /** By node number. */
  private firsts = new Int32Array(FIRST_ROOM).fill(NOWHERE);
  /** By place. */
  private befores = new Int32Array(FIRST_ROOM);
  private afters = new Int32Array(FIRST_ROOM);

  /** The newest place; the others follow by `after`. */
  first(node: number): number {
    return node < this.firsts.length ? (this.firsts[node] as number) : NOWHERE;
  }

  after(place: number): number {
    return this.afters[place] as number;
  }

  /** The caller knows that the place is in no chain. */
  add(node: number, place: number): void {
    if (node >= this.firsts.length) this.firsts = grown(this.firsts, node);
    if (place >= this.afters.length) {
      this.befores = grown(this.befores, place);
      this.afters = grown(this.afters, place);
    }
    const first = this.firsts[node] as number;
    this.befores[place] = NOWHERE;
    this.afters[place] = first;
    if (first !== NOWHERE) this.befores[first] = place;
    this.firsts[node] = place;
  }

  /** The caller knows that the place is in this node's chain. */
  remove(node: number, place: number): void {
    const before = this.befores[place] as number;
    const after = this.afters[place] as number;
    if (before === NOWHERE) this.firsts[node] = after;
    else this.afters[before] = after;
    if (after !== NOWHERE) this.befores[after] = before;
  }
}

/** Long enough for `index`. */
function grown(column: Int32Array, index: number): Int32Array<ArrayBuffer> {
  const longer = new Int32Array(2 * Math.max(index, column.length)).fill(NOWHERE);
  longer.set(column);
  return longer;
}
