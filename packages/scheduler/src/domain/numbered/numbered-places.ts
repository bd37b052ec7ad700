/**
 * Hot path: array indexes ("places") for things that come and go all the time, found by numbers in their keys. A Map spreads its keys over
 * the whole table, so most lookups in a large one miss the CPU cache. Here keys with consecutive numbers are neighbours. Two keys may share
 * a number, and two places a key.
 *
 * The values are in arrays of the user, indexed by place, of length `room`.
 */
const FIRST_ROOM = 16;
/** There is no such place. */
export const NOWHERE = -1;

export class NumberedPlaces {
  readonly numberOf: (key: string) => number;
  /** The first place of each chain, by the last bits of the number. The length is a power of two. */
  private firsts = new Int32Array(FIRST_ROOM).fill(NOWHERE);
  /** By place: the next one of its chain, or the next free one. */
  private nexts = new Int32Array(FIRST_ROOM);
  /** By place: the number, so that keys with other numbers are not compared. */
  private numbers = new Int32Array(FIRST_ROOM);
  private readonly keys: (string | undefined)[] = [];
  private free = NOWHERE;
  private count = 0;

  /** A 32-bit integer, always the same for the same key. */
  constructor(numberOf: (key: string) => number) {
    this.numberOf = numberOf;
  }

  /** Number of places in use. */
  get size(): number {
    return this.count;
  }

  /** All places are below this. It only grows, by doubling. */
  get room(): number {
    return this.nexts.length;
  }

  /** A place of this key; if it has several, the others follow by `another`. */
  find(key: string, number = this.numberOf(key)): number {
    return this.search(this.firsts[number & (this.firsts.length - 1)] as number, key, number);
  }

  another(place: number): number {
    const key = this.keys[place] as string;
    return this.search(this.nexts[place] as number, key, this.numbers[place] as number);
  }

  take(key: string, number = this.numberOf(key)): number {
    let place = this.free;
    if (place === NOWHERE) {
      place = this.keys.length;
      if (place === this.nexts.length) this.grow();
    } else this.free = this.nexts[place] as number;
    this.keys[place] = key;
    this.numbers[place] = number;
    this.link(place, number);
    this.count += 1;
    return place;
  }

  leave(place: number): void {
    this.unlink(place, this.numbers[place] as number);
    this.keys[place] = undefined;
    this.nexts[place] = this.free;
    this.free = place;
    this.count -= 1;
  }

  /** Undefined: the place is free. */
  keyAt(place: number): string | undefined {
    return this.keys[place];
  }

  private search(from: number, key: string, number: number): number {
    const { keys, nexts, numbers } = this;
    let place = from;
    while (place !== NOWHERE && (numbers[place] !== number || keys[place] !== key))
      place = nexts[place] as number;
    return place;
  }

  private link(place: number, number: number): void {
    const chain = number & (this.firsts.length - 1);
    this.nexts[place] = this.firsts[chain] as number;
    this.firsts[chain] = place;
  }

  private unlink(place: number, number: number): void {
    const { nexts, firsts } = this;
    const chain = number & (firsts.length - 1);
    const next = nexts[place] as number;
    if (firsts[chain] === place) {
      firsts[chain] = next;
      return;
    }
    let before = firsts[chain] as number;
    while (nexts[before] !== place) before = nexts[before] as number;
    nexts[before] = next;
  }

  /** Only when every place is in use. */
  private grow(): void {
    const room = 2 * this.nexts.length;
    const { numbers } = this;
    this.firsts = new Int32Array(room).fill(NOWHERE);
    this.nexts = new Int32Array(room);
    this.numbers = new Int32Array(room);
    this.numbers.set(numbers);
    for (let place = 0; place < numbers.length; place++) this.link(place, numbers[place] as number);
  }
}
