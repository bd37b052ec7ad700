/**
 * Port: letters between instances that could not be handled.
 *
 * The law: a dead letter stays until it is replayed or purged; only at the limit of its instance the oldest make room. A list
 * begins with the newest, shows the beginning of each letter and is bounded in letters and bytes, so that a page may be short
 * and yet not be the last. A replay sends first and removes after: a letter may arrive twice, it is never lost, and one that
 * the inbox refuses stays. Whose instance is gone for good is still found among the orphaned, and kept for a limited time; it
 * stays for good again with the next letter that dies there. A thrown error means *unknown*; every call may be repeated.
 */
export interface DeadLetter {
  /** Its place among the dead letters of its instance: "<epoch ms>-<number>". */
  readonly messageId: string;
  readonly diedAt: number;
  /** How often it was handed out in vain. */
  readonly deliveries: number;
  /** Of the whole body, in UTF-8. */
  readonly bytes: number;
  /** The beginning of the body, maybe cut inside a character. */
  readonly head: string;
}

export interface WholeDeadLetter extends DeadLetter {
  readonly body: string;
}

export interface DeadLetterPage {
  readonly letters: readonly DeadLetter[];
  readonly isLast: boolean;
}

export type ReplayResult = 'replayed' | 'absent' | 'full' | 'gone';

export interface DeadLetters {
  /** Those that come after `after` in the list. */
  list(
    instanceId: string,
    page: { readonly max: number; readonly after?: string | undefined },
  ): Promise<DeadLetterPage>;
  get(instanceId: string, messageId: string): Promise<WholeDeadLetter | undefined>;
  /** Into the inbox of `to`. */
  replay(instanceId: string, messageId: string, to: string): Promise<ReplayResult>;
  /** Removes up to `max` of them: all, or those that died before. */
  purge(
    instanceId: string,
    which: { readonly diedBefore?: number | undefined; readonly max: number },
  ): Promise<{ readonly purged: number; readonly isDone: boolean }>;
  /** Its instance is gone for good, and nobody names it any more. */
  orphan(instanceId: string): Promise<void>;
  /** Instances that are gone and left dead letters; there may be nothing left of them by now. */
  orphaned(): Promise<readonly string[]>;
}

/** A list shows this much of each letter. */
export const HEAD_BYTES = 4_096;
/** A page ends when the bodies of its letters are larger than this together. */
export const PAGE_BYTES = 4 * 1_024 * 1_024;
/** How long dead letters of an instance that is gone are kept. */
export const ORPHANED_FOR_MS = 7 * 24 * 3_600_000;
/** At most so many are remembered; those gone for longest are forgotten first. */
export const MOST_ORPHANED = 1_000;

export const MESSAGE_ID = /^\d{1,16}-\d{1,16}$/;
