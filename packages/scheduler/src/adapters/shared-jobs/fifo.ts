/** Hot path: things by name in the order they came, of which the first ones go first. Cheap at its front, unlike a map. */

export interface Fifo<T> {
  has(name: string): boolean;
  /** Nothing if it is there already. */
  add(name: string, one: T): void;
  delete(name: string): T | undefined;
  first(): readonly [name: string, one: T] | undefined;
  clear(): void;
  size(): number;
}

/** So many at the front are given up before the rest moves up. */
const MOST_GONE = 1_024;

export function createFifo<T>(): Fifo<T> {
  const all = new Map<string, { readonly one: T; readonly number: number }>();
  let order: { readonly name: string; readonly number: number }[] = [];
  let front = 0;
  let numbers = 0;

  function moveUp(): void {
    if (front < MOST_GONE) return;
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
        // One that left and came again stands further back.
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
