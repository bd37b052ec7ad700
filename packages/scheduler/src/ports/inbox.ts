/**
 * Port: messages from one instance to another, which may not be lost.
 *
 * The law: a message that was `sent` is handed out at least once, first come first served, until it is confirmed; one that was
 * handed out and not confirmed for a while is handed out again, and after too many deliveries it is put among the dead
 * messages: not dropped unless none are kept, never in the way of the others. At its limit an inbox refuses the sender (`full`); what is in it is
 * never trimmed. One that nobody opened, or that was closed, refuses too (`gone`). A confirmed message leaves nothing behind.
 * Whoever listens may be told a message as it is sent, which hands it out like a take: one that was told and not heard comes again. So
 * that this is seldom, many at a time and long ones are not told but wait to be taken.
 * An inbox is closed only when it is empty, in one step, so that no message can slip in between. One that nobody opens again for
 * `INBOX_IDLE_MS` ends by itself with what is in it: whoever opened it may have died before anybody knew its name, and a store that
 * lost its last writes may show one that was closed. A thrown error means *unknown*.
 */

/** Far longer than any message is of use, and than whoever lives may be kept from its inbox. */
export const INBOX_IDLE_MS = 3_600_000;

/** Messages handed out and not confirmed from which on nobody is told more: it would be more than a reader holds. They wait to be taken. */
export const MOST_TOLD = 512;
/** Characters of a message that is told. A longer one is taken: what is told lies in the store until it is heard. */
export const LONGEST_TOLD = 32_768;

export interface InboxMessage {
  readonly messageId: string;
  readonly body: string;
  /** How often it was handed out, this time included. */
  readonly deliveries: number;
}

export interface InboxSize {
  /** Messages that are not confirmed, those that were handed out included. */
  readonly messages: number;
  readonly handedOut: number;
  readonly dead: number;
}

export interface Inbox {
  /** Opens it, or keeps it open. */
  open(instanceId: string): Promise<void>;
  send(to: string, body: string): Promise<'sent' | 'full' | 'gone'>;
  /** New messages, waiting for them if there are none. For one reader at a time. */
  take(instanceId: string, limits: { max: number; waitMs: number }): Promise<readonly InboxMessage[]>;
  /**
   * From its end on new messages may be told as they are sent, instead of waiting to be taken; some are still to be taken, for not
   * every store can tell. Resolves to a function that ends it: what is told until that has ended is handed out.
   */
  listen(instanceId: string, hear: (messages: readonly InboxMessage[]) => void): Promise<() => Promise<void>>;
  /**
   * Messages that were handed out and not confirmed for `idleMs`; those delivered too often are dead now. `except`: these are
   * being handled, and neither come again nor die, however long it takes.
   */
  takeAgain(
    instanceId: string,
    limits: { max: number; idleMs: number; except?: ReadonlySet<string> },
  ): Promise<{ readonly messages: readonly InboxMessage[]; readonly died: number }>;
  confirm(instanceId: string, messageIds: readonly string[]): Promise<void>;
  /** `not_empty`: something is still to be handled. Dead letters stay. */
  close(instanceId: string): Promise<'closed' | 'not_empty'>;
  size(instanceId: string): Promise<InboxSize>;
}
