/** Hot path: the last nodes whose abilities changed, so that a standing query updates a few bits instead of all. */
const KEPT = 1024;

export interface ChangeLog {
  /** Number of changes so far. */
  readonly count: number;
  note(index: number): void;
  /** The node of change number `at`; only the last `kept` changes are stored. */
  at(at: number): number;
  readonly kept: number;
}

export function createChangeLog(): ChangeLog {
  const ring = new Int32Array(KEPT);
  const log = {
    count: 0,
    note(index: number): void {
      ring[log.count % KEPT] = index;
      log.count += 1;
    },
    at: (at: number): number => ring[at % KEPT] as number,
    kept: KEPT,
  };
  return log;
}
