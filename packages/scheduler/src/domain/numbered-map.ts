/**
 * Hot path: a map for values that come and go all the time, found by numbers that their keys have. A Map spreads its keys over its whole
 * table, and of a large table hardly anything is at hand when it is looked at. Here keys whose numbers follow one another are neighbours: what is
 * looked for was touched lately. Two keys may share a number.
 *
 * A Map also builds itself anew again and again when keys come and go, and the table it leaves behind, old and dead, keeps every value
 * in it alive until the next full collection. Here places are used again, and what was taken out is gone.
 */
const FIRST_ROOM = 16;
const NONE = -1;

export class NumberedMap<V> {
  private readonly numberOf: (key: string) => number;
  /** The first place of each chain, by the last bits of the number. Always a power of two of them. */
  private firsts = new Int32Array(FIRST_ROOM).fill(NONE);
  /** By place: the next one of its chain, or the next free one. */
  private nexts = new Int32Array(FIRST_ROOM);
  /** By place: so that keys with other numbers need not be looked at. */
  private numbers = new Int32Array(FIRST_ROOM);
  private readonly keys: (string | undefined)[] = [];
  private readonly held: (V | undefined)[] = [];
  private free = NONE;
  private count = 0;

  /** A whole number of 32 bits, always the same for the same key. */
  constructor(numberOf: (key: string) => number) {
    this.numberOf = numberOf;
  }

  get size(): number {
    return this.count;
  }

  get(key: string): V | undefined {
    const place = this.find(key, this.numberOf(key));
    return place === NONE ? undefined : this.held[place];
  }

  set(key: string, value: V): void {
    const number = this.numberOf(key);
    const place = this.find(key, number);
    if (place === NONE) this.add(key, number, value);
    else this.held[place] = value;
  }

  /** False: it was not there. */
  delete(key: string): boolean {
    const number = this.numberOf(key);
    const place = this.find(key, number);
    if (place === NONE) return false;
    this.unlink(place, number);
    this.keys[place] = undefined;
    this.held[place] = undefined;
    this.nexts[place] = this.free;
    this.free = place;
    this.count -= 1;
    return true;
  }

  /** In no particular order. */
  *values(): IterableIterator<V> {
    for (let place = 0; place < this.keys.length; place++) {
      if (this.keys[place] !== undefined) yield this.held[place] as V;
    }
  }

  private find(key: string, number: number): number {
    const { keys, nexts, numbers, firsts } = this;
    let place = firsts[number & (firsts.length - 1)] as number;
    while (place !== NONE && (numbers[place] !== number || keys[place] !== key))
      place = nexts[place] as number;
    return place;
  }

  private add(key: string, number: number, value: V): void {
    let place = this.free;
    if (place === NONE) {
      place = this.keys.length;
      if (place === this.nexts.length) this.grow();
    } else this.free = this.nexts[place] as number;
    this.keys[place] = key;
    this.held[place] = value;
    this.numbers[place] = number;
    this.link(place, number);
    this.count += 1;
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

  /** Only when every place is taken. */
  private grow(): void {
    const room = 2 * this.nexts.length;
    const { numbers } = this;
    this.firsts = new Int32Array(room).fill(NONE);
    this.nexts = new Int32Array(room);
    this.numbers = new Int32Array(room);
    this.numbers.set(numbers);
    for (let place = 0; place < numbers.length; place++) this.link(place, numbers[place] as number);
  }
}
