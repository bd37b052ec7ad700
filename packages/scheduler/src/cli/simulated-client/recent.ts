/** The last so many entries; older ones are forgotten, because a talk may go on for days. */

export interface Recent<Key, Value> {
  has(key: Key): boolean;
  get(key: Key): Value | undefined;
  add(key: Key, value: Value): void;
}

export function createRecent<Key, Value>(max: number): Recent<Key, Value> {
  const entries = new Map<Key, Value>();
  return {
    has: (key) => entries.has(key),
    get: (key) => entries.get(key),
    add(key, value) {
      entries.delete(key);
      entries.set(key, value);
      if (entries.size <= max) return;
      const [oldest] = entries.keys();
      if (oldest !== undefined) entries.delete(oldest);
    },
  };
}
