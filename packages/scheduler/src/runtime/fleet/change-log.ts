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
