/**
 * Port: counts slow operations and logs some of them.
 *
 * The law: below the threshold nothing happens; above it each operation is counted under its name, and at most one line per minute and name
 * is logged, with the number of operations since the line before and the slowest of them. A threshold of 0 turns its half off. It never throws, never waits, and keeps nothing per call.
 */

/** What an operation may wait for in a process without locks. */
export const LOCKS = ['session_mailbox', 'request_single_flight', 'socket_order', 'event_loop'] as const;
export type LockName = (typeof LOCKS)[number];

export const PATHS = ['dispatch', 'node_registration', 'heartbeat', 'result', 'session_init'] as const;
export type PathName = (typeof PATHS)[number];

export interface SlowWatch {
  waited(lock: LockName, ms: number): void;
  took(path: PathName, ms: number): void;
}
