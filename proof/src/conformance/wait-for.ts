/** Waits for something that others bring about, at most for the patience of the run. */

export interface Waiting {
  /** Everything that a wait could be about has changed. */
  changed(): void;
  /** The first value that is not undefined; undefined if the patience ends, or nothing more can come. */
  until<T>(look: () => T | undefined): Promise<T | undefined>;
}

export function createWaiting(patienceMs: number, isOver: () => boolean = () => false): Waiting {
  let listeners: (() => void)[] = [];
  return {
    changed() {
      const called = listeners;
      listeners = [];
      for (const listener of called) listener();
    },
    async until(look) {
      const endsAt = Date.now() + patienceMs;
      for (;;) {
        const value = look();
        const leftMs = endsAt - Date.now();
        if (value !== undefined || leftMs <= 0 || isOver()) return value;
        let timer: NodeJS.Timeout | undefined;
        await new Promise<void>((resolve) => {
          listeners.push(resolve);
          timer = setTimeout(resolve, leftMs);
        });
        clearTimeout(timer);
      }
    },
  };
}
