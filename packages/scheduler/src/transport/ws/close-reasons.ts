/** Why the scheduler closes a socket, and the close code for it. The reason is also a label of the metric. */
export const CLOSE_CODES = {
  /** A newer connection has the same node_id. */
  replaced: 4000,
  registration_deadline: 4401,
  refused: 1008,
  /** The token is no longer valid, or has other rights now. */
  revoked: 1008,
  /** The minted token has ended; the client may come back with a fresh one. */
  expired: 1008,
  invalid_messages: 1008,
  rate_limited: 1008,
  /** The peer reads more slowly than the scheduler writes. */
  too_slow: 1013,
  /** A registration that may succeed later. */
  unavailable: 1013,
  /** An operator ended the session. */
  closed_by_operator: 1000,
  shutdown: 1012,
  /** Other instances declared this instance dead and have taken over its work. */
  fenced: 1012,
} as const;

export type CloseReason = keyof typeof CLOSE_CODES;
