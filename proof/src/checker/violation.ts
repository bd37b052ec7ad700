/** What the checker answers: a promise that was broken, when, and about what. */

export type Invariant =
  | 'I1 no oversell'
  | 'I2 no leak'
  | 'I3 one outcome'
  | 'I4 fencing'
  | 'I5 order'
  | 'I7 fail closed'
  | 'I8 one slot per script'
  | 'I9 nothing to the dead'
  | 'nothing lost';

export interface Violation {
  readonly invariant: Invariant;
  readonly at: number;
  readonly says: string;
  /** Names to look for in the history: jobs, nodes, requests, sessions. */
  readonly about: readonly string[];
}

/** What a rule counted besides, for the summary. */
export type Counts = Readonly<Record<string, number>>;

export interface Finding {
  readonly violations: readonly Violation[];
  readonly counts: Counts;
}

export interface Allowances {
  /** From acceptance to outcome. */
  readonly deadlineMs: number;
  /** On top of it: what a client that lost its connection needs to come back and be told. */
  readonly graceMs: number;
  /** How long after the loss of a master its lost leases may be oversold. */
  readonly failoverMs: number;
  /** How long what was written before may still be on its way. */
  readonly flightMs: number;
  /** How long a letter may be held up by a store that is disturbed: after it an assignment has expired (ack_timeout_ms). */
  readonly letterMs: number;
  /** From when on a store that is gone must be known to be gone. */
  readonly noticeMs: number;
}

export const ALLOWANCES: Allowances = {
  deadlineMs: 20_000,
  graceMs: 10_000,
  failoverMs: 12_000,
  flightMs: 500,
  letterMs: 3_000,
  noticeMs: 1_600,
};
