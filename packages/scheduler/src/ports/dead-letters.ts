/**
 * Port: dead letters, i.e. messages between instances that could not be handled.
 *
 * The law: a dead letter stays until it is replayed or purged; only at the limit of its instance the oldest are dropped. A list
 * begins with the newest, shows the beginning of each body and is bounded in entries and bytes, so a short page is not always
 * the last one. A replay sends first and removes afterwards: the message may arrive twice, it is never lost, and a message that
 * the inbox refuses stays. Dead letters of a removed instance are listed as orphaned and kept for a limited time; the limit is
 * cancelled when the next message dies there. A thrown error means *unknown*; every call may be repeated.
 */
export interface DeadLetter {
  /** Its position among the dead letters of its instance: "<epoch ms>-<number>". */
  readonly messageId: string;
  readonly diedAt: number;
  /** How often the inbox delivered it without an acknowledgement. */
  readonly deliveries: number;
  /** Size of the whole body in UTF-8. */
  readonly bytes: number;
  /** The beginning of the body; it may be cut inside a character. */
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
  /** The dead letters that follow `after` in the list. */
  list(
    instanceId: string,
    page: { readonly max: number; readonly after?: string | undefined },
  ): Promise<DeadLetterPage>;
  get(instanceId: string, messageId: string): Promise<WholeDeadLetter | undefined>;
  /** Sends the message to the inbox of `to`. */
  replay(instanceId: string, messageId: string, to: string): Promise<ReplayResult>;
  /** Removes up to `max` dead letters: any, or only those that died before `diedBefore`. */
  purge(
    instanceId: string,
    which: { readonly diedBefore?: number | undefined; readonly max: number },
  ): Promise<{ readonly purged: number; readonly isDone: boolean }>;
  /** Returns how many of them were there. */
  remove(instanceId: string, messageIds: readonly string[]): Promise<number>;
  /** Records that the instance was removed, so that its dead letters are still found. */
  orphan(instanceId: string): Promise<void>;
  /** Removed instances that left dead letters. Some of them may have none any more. */
  orphaned(): Promise<readonly string[]>;
}

/** A list shows this much of each body. */
export const HEAD_BYTES = 4_096;
/** A page ends when the sum of its bodies exceeds this. */
export const PAGE_BYTES = 4 * 1_024 * 1_024;
/** How long dead letters of a removed instance are kept. */
export const ORPHANED_FOR_MS = 7 * 24 * 3_600_000;
/** At most so many removed instances are kept; the earliest removed are dropped first. */
export const MOST_ORPHANED = 1_000;

export const MESSAGE_ID = /^\d{1,16}-\d{1,16}$/;
