/**
 * Port: messages from one instance to another, which may not be lost.
 *
 * The law: a message that was `sent` is delivered at least once, in the order of sending, until it is acknowledged. A message that
 * was delivered and not acknowledged for a while is delivered again; after too many deliveries it moves to the dead letters. It
 * is dropped only if no dead letters are kept, and it never delays other messages. Of the dead letters of one inbox, each tenant has at
 * most its part: beyond it the tenant's oldest is dropped, and beyond the limit of all the oldest of all. Those without a known tenant
 * count together, as if they were of one more tenant. At its limit an inbox refuses new messages
 * (`full`) and keeps the stored ones. An inbox that was never opened, or was closed, refuses as well (`gone`). The store
 * keeps nothing of an acknowledged message.
 * An inbox is closed only when it is empty, in one step, so that no message can arrive in between. An inbox that is not opened again
 * within `INBOX_IDLE_MS` expires with its messages: its instance may have died before any other instance knew its name, and
 * a store that lost its last writes may show an inbox that was closed. A thrown error means *unknown*.
 */
import type { TenantId } from '../domain/ids.ts';

/** Far longer than any message is useful, and than a live instance can be prevented from opening its inbox again. */
export const INBOX_IDLE_MS = 3_600_000;

/** Whose a message is, for its place among the dead letters; undefined: not known. */
export type TenantOfMessage = (body: string) => Promise<TenantId | undefined>;

export interface InboxMessage {
  readonly messageId: string;
  readonly body: string;
  /** How often it was delivered, this time included. */
  readonly deliveries: number;
}

export interface InboxSize {
  /** Messages that are not acknowledged, including delivered ones. */
  readonly messages: number;
  /** Delivered and not acknowledged. */
  readonly delivered: number;
  readonly dead: number;
}

export interface Inbox {
  /** Opens it, or keeps it open. */
  open(instanceId: string): Promise<void>;
  send(to: string, body: string): Promise<'sent' | 'full' | 'gone'>;
  /** New messages. If there are none it waits for them. For one reader at a time. */
  take(instanceId: string, limits: { max: number; waitMs: number }): Promise<readonly InboxMessage[]>;
  /**
   * Messages that were delivered and not acknowledged for `idleMs`; those delivered too often become dead letters. `except`: messages
   * that are being handled; they are not delivered again and do not become dead letters, however long that takes. `tenantOf` is
   * asked only about a message that becomes a dead letter.
   */
  takeAgain(
    instanceId: string,
    limits: {
      max: number;
      idleMs: number;
      except?: ReadonlySet<string>;
      tenantOf?: TenantOfMessage | undefined;
    },
  ): Promise<{ readonly messages: readonly InboxMessage[]; readonly died: number }>;
  ack(instanceId: string, messageIds: readonly string[]): Promise<void>;
  /** `not_empty`: it still holds messages. Dead letters stay. */
  close(instanceId: string): Promise<'closed' | 'not_empty'>;
  size(instanceId: string): Promise<InboxSize>;
}
