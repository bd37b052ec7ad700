/**
 * Hot path: a map for values that come and go all the time, found by numbers in their keys (`numbered-places.ts`).
 *
 * A Map rebuilds itself again and again when keys come and go, and its old table keeps every value alive until the next full garbage
 * collection. Here places are reused, and removed values are free at once.
 */
import { NOWHERE, NumberedPlaces } from './numbered-places.ts';

export class NumberedMap<V> {
  private readonly places: NumberedPlaces;
  private readonly held: (V | undefined)[] = [];

  /** A 32-bit integer, always the same for the same key. */
  constructor(numberOf: (key: string) => number) {
    this.places = new NumberedPlaces(numberOf);
  }

  get size(): number {
    return this.places.size;
  }

  get(key: string): V | undefined {
    const place = this.places.find(key);
    return place === NOWHERE ? undefined : this.held[place];
  }

  set(key: string, value: V): void {
    const { places } = this;
    const number = places.numberOf(key);
    const place = places.find(key, number);
    this.held[place === NOWHERE ? places.take(key, number) : place] = value;
  }

  /** False: the key was not there. */
  delete(key: string): boolean {
    const place = this.places.find(key);
    if (place === NOWHERE) return false;
    this.places.leave(place);
    this.held[place] = undefined;
    return true;
  }

  /** In no particular order. */
  *values(): IterableIterator<V> {
    for (let place = 0; place < this.held.length; place++) {
      if (this.places.keyAt(place) !== undefined) yield this.held[place] as V;
    }
  }
}
