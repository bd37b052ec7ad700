/** Why the scheduler closes a socket, and the close code that goes with it. The reason is also the metric's label. */
export const CUT_CODES = {
  /** A newer connection has the same node_id. */
  replaced: 4000,
  registration_deadline: 4401,
  refused: 1008,
  invalid_messages: 1008,
  rate_limited: 1008,
  /** The peer reads slower than we have to write. */
  too_slow: 1013,
  /** A registration that may succeed later. */
  unavailable: 1013,
  shutdown: 1012,
  /** This instance was taken for dead, and others do its work by now. */
  fenced: 1012,
} as const;

export type CutReason = keyof typeof CUT_CODES;
