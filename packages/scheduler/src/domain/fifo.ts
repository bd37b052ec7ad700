/** Hot path: a queue whose entries are found by name. Removing the first entry is cheap, unlike in a map. */

export interface Fifo<T> {
  has(name: string): boolean;
  /** Does nothing if the name exists. */
  add(name: string, one: T): void;
  delete(name: string): T | undefined;
  first(): readonly [name: string, one: T] | undefined;
  clear(): void;
  size(): number;
}

/** The array is shortened after so many entries at its front were removed. */
const MAX_REMOVED = 1_024;

export function createFifo<T>(): Fifo<T> {
  const all = new Map<string, { readonly one: T; readonly number: number }>();
  let order: { readonly name: string; readonly number: number }[] = [];
  let front = 0;
  let numbers = 0;

  function moveUp(): void {
    if (front < MAX_REMOVED) return;
    order = order.slice(front);
    front = 0;
  }

  return {
    has: (name) => all.has(name),
    add(name, one) {
      if (all.has(name)) return;
      numbers += 1;
      all.set(name, { one, number: numbers });
      order.push({ name, number: numbers });
    },
    delete(name) {
      const found = all.get(name);
      all.delete(name);
      return found?.one;
    },
    first() {
      for (let next = order[front]; next !== undefined; next = order[front]) {
        const found = all.get(next.name);
        // An entry that was removed and added again has a later position.
        if (found?.number === next.number) return [next.name, found.one];
        front += 1;
        moveUp();
      }
      return undefined;
    },
    clear() {
      all.clear();
      order = [];
      front = 0;
    },
    size: () => all.size,
  };
}
