/** What the checker returns: an invariant that was broken, when, and about what. */

export const INVARIANTS = [
  'I1 no oversell',
  'I2 no leak',
  'I3 one outcome',
  'I4 fencing',
  'I5 order',
  'I6 hot path',
  'I7 fail closed',
  // Visible from outside only where a server reports it. A test of every script's keys and the suites on a Cluster check it.
  'I8 one slot per script',
  'I9 nothing to the dead',
  'I10 isolation',
  'I11 bounded',
  'S1 done once',
  'S2 wanted only',
  'R1 one rendition',
  'R2 independence',
  'R3 demand',
  'R4 own language',
  'R5 log survives',
  'R6 rooms apart',
  'nothing lost',
] as const;

export type Invariant = (typeof INVARIANTS)[number];

export interface Violation {
  readonly invariant: Invariant;
  readonly at: number;
  readonly message: string;
  /** Names to look for in the history: requests, jobs, nodes, sessions, instances. */
  readonly about: readonly string[];
}

/** What a rule counted besides, for the summary. */
export type Counts = Readonly<Record<string, number>>;

export interface Finding {
  readonly violations: readonly Violation[];
  readonly counts: Counts;
  /** How often an invariant could have been broken. None: this history says nothing about it. */
  readonly judged?: Readonly<Partial<Record<Invariant, number>>>;
}

export interface Allowances {
  /** From acceptance to outcome. */
  readonly deadlineMs: number;
  /** In addition: the time in which a disconnected client reconnects and receives its outcomes. */
  readonly graceMs: number;
  /** How long after the loss of a master its lost leases may be oversold. */
  readonly failoverMs: number;
  /** A write that was acknowledged this long before its master died may not have reached the replica. 0: writes are never lost. */
  readonly lossMs: number;
  /** How long an earlier message may still be under way. */
  readonly flightMs: number;
  /** How long a disturbed store may delay a message: after that an assignment has expired (ack_timeout_ms). */
  readonly messageMs: number;
  /** A result and the next attempt may cross; beyond this the result was late. */
  readonly crossingMs: number;
  /** How long a finished result waits for the utterances before it (result_gap_max_ms: a node may have one of them). */
  readonly gapMs: number;
  /**
   * How long a command waits for a server (command_timeout_ms): a server that is back is used again only after its lost commands
   * have timed out.
   */
  readonly answerMs: number;
  /** How soon an instance must know that the store is down. */
  readonly noticeMs: number;
  /** How long after a fault ended the service is normal again. */
  readonly recoverMs: number;
  /** After how long a silent instance is known to be dead: presence TTL, and the second between two reads. */
  readonly presenceMs: number;
  /** How long a slot is reserved for a job before it is handed over (reservation_ttl_ms). */
  readonly reservationMs: number;
  /**
   * How long an attempt that its node did not acknowledge keeps its slot after the driver abandoned it: reservation_ttl_ms, or a
   * heartbeat interval and two seconds, whichever is longer.
   */
  readonly abandonedMs: number;
  /** How long a slot is kept for an acknowledged job: job timeout and its grace. */
  readonly leaseMs: number;
  /** How long a caption waits for an earlier one (rooms.reorder_ms). */
  readonly reorderMs: number;
  /** How long jobs for a language go on that no member hears any more (rooms.unheard_ms). */
  readonly unheardMs: number;
  /** How long a member without a connection counts as hearing (session_resume_ttl_ms). */
  readonly awayMs: number;
  /** Hedges as a share of the attempts that nodes acknowledged (budget_percent). */
  readonly hedgePercent: number;
  /** How soon a try without waiting is answered while there is no fault. */
  readonly dispatchMs: number;
  /**
   * Time is virtual: it passes only where the run says so, and every delay has its cause in the history. On real machines a process
   * may be late because of others.
   */
  readonly isExact: boolean;
}

/** For real processes under faults. */
export const ALLOWANCES: Allowances = {
  deadlineMs: 20_000,
  graceMs: 10_000,
  failoverMs: 12_000,
  lossMs: 1_000,
  flightMs: 500,
  messageMs: 3_000,
  crossingMs: 2_000,
  gapMs: 30_000,
  answerMs: 800,
  noticeMs: 1_600,
  recoverMs: 12_000,
  presenceMs: 5_000,
  reservationMs: 5_000,
  abandonedMs: 7_000,
  leaseMs: 20_000,
  reorderMs: 1_500,
  unheardMs: 3_000,
  awayMs: 60_000,
  hedgePercent: 0,
  dispatchMs: 5_000,
  isExact: false,
};
