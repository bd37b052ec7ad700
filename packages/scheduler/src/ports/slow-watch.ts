/**
 * Port: what took longer than it should is counted, and some of it said in the log.
 *
 * The law: below its threshold nothing happens; above it each one is counted under its name, and at most one a second and name is
 * logged, with how many were not. A threshold of 0 turns its half off. Never throws, never waits, keeps nothing per call.
 */

/** What somebody may have to wait for, in a process without locks. */
export const LOCKS = ['session_mailbox', 'request_single_flight', 'socket_order', 'event_loop'] as const;
export type LockName = (typeof LOCKS)[number];

export const PATHS = ['dispatch', 'node_registration', 'heartbeat', 'result', 'session_init'] as const;
export type PathName = (typeof PATHS)[number];

export interface SlowWatch {
  waited(lock: LockName, ms: number): void;
  took(path: PathName, ms: number): void;
}
