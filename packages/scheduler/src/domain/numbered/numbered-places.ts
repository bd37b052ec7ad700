/**
 * Hot path: places for things that come and go all the time, found by numbers that their keys have. A Map spreads its keys over its whole
 * table, and of a large table hardly anything is at hand when it is looked at. Here keys whose numbers follow one another are neighbours: what is
 * looked for was touched lately. Two keys may share a number, and two places a key.
 *
 * What is kept at a place is in columns of whoever keeps it: arrays by place, as long as `room` says.
 */
const FIRST_ROOM = 16;
/** There is no such place. */
export const NOWHERE = -1;

export class NumberedPlaces {
  readonly numberOf: (key: string) => number;
  /** The first place of each chain, by the last bits of the number. Always a power of two of them. */
  private firsts = new Int32Array(FIRST_ROOM).fill(NOWHERE);
  /** By place: the next one of its chain, or the next free one. */
  private nexts = new Int32Array(FIRST_ROOM);
  /** By place: so that keys with other numbers need not be looked at. */
  private numbers = new Int32Array(FIRST_ROOM);
  private readonly keys: (string | undefined)[] = [];
  private free = NOWHERE;
  private count = 0;

  /** A whole number of 32 bits, always the same for the same key. */
  constructor(numberOf: (key: string) => number) {
    this.numberOf = numberOf;
  }

  /** Places that are taken. */
  get size(): number {
    return this.count;
  }

  /** No place is beyond this. It only grows, by doubling. */
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

  /** Undefined: nobody has it. */
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

  /** Only when every place is taken. */
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
