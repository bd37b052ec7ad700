/** Hot path: which nodes' abilities changed lately, so that a standing query repairs a few bits instead of all. */
const KEPT = 1024;

export interface ChangeLog {
  /** Changes ever noted. */
  readonly count: number;
  note(index: number): void;
  /** The node of change number `at`; only the last `kept` are known. */
  at(at: number): number;
  readonly kept: number;
}

export function createChangeLog(): ChangeLog {
  const ring = new Int32Array(KEPT);
  let count = 0;
  return {
    get count() {
      return count;
    },
    note(index) {
      ring[count % KEPT] = index;
      count += 1;
    },
    at: (at) => ring[at % KEPT] as number,
    kept: KEPT,
  };
}
