/**
 * Simulation: keys that expire, as a server keeps them. An expired entry is never returned, and removed from time to time. Values
 * that may change are copied with the map; all others must not be changed in place.
 */

interface Kept<V> {
  readonly value: V;
  readonly until: number;
}

export interface Shelf<V> {
  get(key: string, now: number): V | undefined;
  put(key: string, value: V, until?: number): void;
  delete(key: string): void;
  /** Sets when the entry expires, if it exists. */
  expire(key: string, until: number): void;
  /** When the entry expires; 0 if it does not exist. */
  until(key: string, now: number): number;
  sweep(now: number): void;
  clear(): void;
  copy(): Shelf<V>;
  keys(): IterableIterator<string>;
  size(): number;
}

/** `copyValue`: for values that are changed in place. */
export function createShelf<V>(
  copyValue?: (value: V) => V,
  entries?: Iterable<readonly [string, Kept<V>]>,
): Shelf<V> {
  const kept = new Map<string, Kept<V>>(entries);

  function find(key: string, now: number): Kept<V> | undefined {
    const entry = kept.get(key);
    if (entry === undefined || entry.until > now) return entry;
    kept.delete(key);
    return undefined;
  }

  return {
    get(key, now) {
      const entry = kept.get(key);
      if (entry === undefined) return undefined;
      if (entry.until > now) return entry.value;
      kept.delete(key);
      return undefined;
    },
    put(key, value, until = Number.POSITIVE_INFINITY) {
      kept.set(key, { value, until });
    },
    delete: (key) => void kept.delete(key),
    expire(key, until) {
      const entry = kept.get(key);
      if (entry !== undefined) kept.set(key, { value: entry.value, until });
    },
    until: (key, now) => find(key, now)?.until ?? 0,
    sweep(now) {
      for (const [key, { until }] of kept) if (until <= now) kept.delete(key);
    },
    clear: () => kept.clear(),
    copy() {
      if (copyValue === undefined) return createShelf<V>(undefined, kept);
      const copied = [...kept].map(
        ([key, { value, until }]) => [key, { value: copyValue(value), until }] as const,
      );
      return createShelf(copyValue, copied);
    },
    keys: () => kept.keys(),
    size: () => kept.size,
  };
}
