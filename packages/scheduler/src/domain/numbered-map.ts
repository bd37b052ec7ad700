/**
 * Hot path: a map for values that come and go all the time. A Map builds itself anew again and again when keys come and go, and the table it
 * leaves behind, old and dead, keeps every value in it alive until the next full collection: each is copied on as if it were in use.
 * This one's tables hold numbers; the values are in a list whose places are used again.
 */
export class NumberedMap<K, V> {
  private readonly numbers = new Map<K, number>();
  private readonly held: (V | undefined)[] = [];
  private readonly free: number[] = [];

  get size(): number {
    return this.numbers.size;
  }

  get(key: K): V | undefined {
    const number = this.numbers.get(key);
    return number === undefined ? undefined : this.held[number];
  }

  set(key: K, value: V): void {
    const known = this.numbers.get(key);
    const number = known ?? this.free.pop() ?? this.held.length;
    if (known === undefined) this.numbers.set(key, number);
    this.held[number] = value;
  }

  /** False: it was not there. */
  delete(key: K): boolean {
    const number = this.numbers.get(key);
    if (number === undefined) return false;
    this.numbers.delete(key);
    this.held[number] = undefined;
    this.free.push(number);
    return true;
  }

  /** In the order in which their keys came. */
  *values(): IterableIterator<V> {
    for (const number of this.numbers.values()) yield this.held[number] as V;
  }
}
