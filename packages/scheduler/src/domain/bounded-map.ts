/** A map with a limit: the entry that was set longest ago is dropped first, by count and optionally by age. No I/O. */

export interface BoundedMap<K, V> {
  get(key: K): V | undefined;
  has(key: K): boolean;
  /** The entry becomes the newest one. Entries beyond the limits leave. */
  set(key: K, value: V): void;
  delete(key: K): boolean;
  clear(): void;
  /** Oldest first. Entries that are too old are not among them. */
  entries(): IterableIterator<[K, V]>;
  readonly size: number;
}

export interface BoundedMapOptions<K, V> {
  readonly max: number;
  /** Entries leave this long after they were set. Needs `now`. */
  readonly maxAgeMs?: number;
  readonly now?: () => number;
  /** Called for each entry that leaves because of a limit, not for deleted ones. */
  readonly onEvicted?: (key: K, value: V) => void;
}

interface Entry<V> {
  readonly value: V;
  readonly setAt: number;
}

export function createBoundedMap<K, V>(options: BoundedMapOptions<K, V>): BoundedMap<K, V> {
  const { max, maxAgeMs = Number.POSITIVE_INFINITY, now = () => 0, onEvicted } = options;
  const held = new Map<K, Entry<V>>();

  function evict(key: K, entry: Entry<V>): void {
    held.delete(key);
    onEvicted?.(key, entry.value);
  }

  function trim(): void {
    const oldest = now() - maxAgeMs;
    for (const [key, entry] of held) {
      if (held.size <= max && entry.setAt > oldest) return;
      evict(key, entry);
    }
  }

  function find(key: K): Entry<V> | undefined {
    if (maxAgeMs !== Number.POSITIVE_INFINITY) trim();
    return held.get(key);
  }

  return {
    get: (key) => find(key)?.value,
    has: (key) => find(key) !== undefined,
    set(key, value) {
      held.delete(key);
      held.set(key, { value, setAt: now() });
      trim();
    },
    delete: (key) => held.delete(key),
    clear: () => held.clear(),
    *entries() {
      trim();
      for (const [key, { value }] of held) yield [key, value];
    },
    get size() {
      trim();
      return held.size;
    },
  };
}
