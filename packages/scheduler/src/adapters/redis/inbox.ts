/** Messages between instances: one stream per instance. Reads block, so they have a connection of their own. */
import type { TenantId } from '../../domain/ids.ts';
import { INBOX_IDLE_MS, type Inbox, type InboxMessage, type TenantOfMessage } from '../../ports/inbox.ts';
import { asDependency } from './connection/dependency.ts';
import type { RedisConnection } from './connection/redis-connection.ts';
import { createAckMessages } from './inbox/ack-messages.ts';
import { createBuryMessage } from './inbox/bury-message.ts';
import { createCloseInbox } from './inbox/close-inbox.ts';
import { createOpenInbox } from './inbox/open-inbox.ts';
import { createOutgoingMessages } from './inbox/outgoing-messages.ts';
import { createSendMessages } from './inbox/send-messages.ts';
import { findStuckMessages, type StuckMessage } from './inbox/stuck-messages.ts';
import type { Keys } from './keys.ts';
import { openOrKeep, PLAIN, type SealedPayload } from './sealed-payload.ts';

export interface InboxSettings {
  readonly group: string;
  readonly maxMessages: number;
  readonly maxDeliveries: number;
  /** Dead letters that are kept; 0: they are dropped. */
  readonly maxDead: number;
  /** Of them, those of one tenant. */
  readonly maxDeadOfTenant: number;
  /** How long after its last delivery a message becomes a dead letter. */
  readonly minIdleToDieMs?: number;
  /** After this time an inbox expires unless it is opened again. */
  readonly idleMs?: number;
}

/** One consumer: an inbox has one reader at a time, and the instance that takes it over reads under the same name. */
const READER = 'reader';

type Entry = [id: string, fields: string[] | null] | null;

export function createInbox(
  deps: {
    connection: RedisConnection;
    /** For blocking reads: no other command may wait behind them. Called for each read, because a stuck connection is replaced. */
    blocking: () => RedisConnection;
    keys: Keys;
    payload?: SealedPayload;
  } & InboxSettings,
): Inbox {
  const { connection, keys, group, payload = PLAIN, minIdleToDieMs = 0, idleMs = INBOX_IDLE_MS } = deps;
  const openInbox = createOpenInbox(connection, keys, { group, idleMs });
  const send = createOutgoingMessages(createSendMessages(connection, keys, deps.maxMessages));
  const close = createCloseInbox(connection, keys);
  const ack = createAckMessages(connection, keys, group);
  const bury = createBuryMessage(connection, keys, deps);

  function messagesOf(entries: readonly Entry[], deliveries: (id: string) => number): InboxMessage[] {
    return entries.flatMap((entry) => {
      // A message that was deleted in between comes without fields, or as null, depending on the server.
      const [messageId, fields] = entry ?? ['', null];
      if (fields === null) return [];
      return [{ messageId, body: openOrKeep(payload, fields[1] ?? ''), deliveries: deliveries(messageId) }];
    });
  }

  async function read(instanceId: string, max: number, waitMs: number): Promise<readonly InboxMessage[]> {
    const inbox = keys.inbox(instanceId);
    const answer = (await (waitMs > 0
      ? deps
          .blocking()
          .xreadgroup('GROUP', group, READER, 'COUNT', max, 'BLOCK', waitMs, 'STREAMS', inbox, '>')
      : connection.xreadgroup('GROUP', group, READER, 'COUNT', max, 'STREAMS', inbox, '>'))) as unknown as
      | [[string, Entry[]]]
      | null;
    return messagesOf(answer?.[0][1] ?? [], () => 1);
  }

  async function claim(
    inbox: string,
    stuck: readonly StuckMessage[],
    idleMs: number,
  ): Promise<InboxMessage[]> {
    if (stuck.length === 0) return [];
    const deliveries = new Map(stuck.map((message) => [message.messageId, message.deliveries + 1]));
    // A message that another reader claimed in between is no longer idle and is left out.
    const ids = stuck.map(({ messageId }) => messageId);
    const claimed = await connection.call('XCLAIM', inbox, group, READER, idleMs, ...ids);
    return messagesOf(claimed as Entry[], (id) => deliveries.get(id) ?? 1);
  }

  async function ownerOf(
    inbox: string,
    { messageId }: StuckMessage,
    tenantOf: TenantOfMessage | undefined,
  ): Promise<TenantId | undefined> {
    const [entry] = tenantOf === undefined ? [] : await connection.xrange(inbox, messageId, messageId);
    return entry && tenantOf?.(openOrKeep(payload, entry[1][1] ?? ''));
  }

  async function takeAgain(
    instanceId: string,
    { tenantOf, ...limits }: Parameters<Inbox['takeAgain']>[1],
  ): Promise<{ messages: readonly InboxMessage[]; died: number }> {
    const inbox = keys.inbox(instanceId);
    const found = await findStuckMessages(connection, inbox, { group, except: new Set(), ...limits });
    const isHopeless = ({ deliveries }: StuckMessage): boolean => deliveries >= deps.maxDeliveries;
    let died = 0;
    for (const message of found.filter(isHopeless)) {
      if (message.idleMs < minIdleToDieMs) continue;
      const tenantId = await ownerOf(inbox, message, tenantOf);
      if (await bury(instanceId, message, tenantId)) died += 1;
    }
    const again = found.filter((message) => !isHopeless(message));
    return { messages: await claim(inbox, again, limits.idleMs), died };
  }

  return {
    open: (instanceId) => asDependency('opening an inbox', () => openInbox(instanceId)),
    send: (to, body) => asDependency('sending a message', () => send(to, payload.seal(body))),
    take: (instanceId, { max, waitMs }) =>
      asDependency('reading an inbox', () =>
        read(instanceId, max, waitMs).catch(ifGone<readonly InboxMessage[]>([])),
      ),
    takeAgain: (instanceId, limits) =>
      asDependency('reading stuck messages', () =>
        takeAgain(instanceId, limits).catch(ifGone({ messages: [], died: 0 })),
      ),
    ack: (instanceId, messageIds) =>
      asDependency('acknowledging messages', () => ack(instanceId, messageIds)),
    close: (instanceId) => asDependency('closing an inbox', () => close(instanceId)),
    size: (instanceId) =>
      asDependency('measuring an inbox', async () => {
        const inbox = keys.inbox(instanceId);
        const [messages, dead, pending] = await Promise.all([
          connection.xlen(inbox),
          connection.xlen(keys.deadLetters(instanceId)),
          connection.xpending(inbox, group).catch(ifGone([0])),
        ]);
        return { messages, dead, delivered: Number(pending[0] ?? 0) };
      }),
  };
}

/** An inbox that was never opened, or is closed, holds no messages. */
function ifGone<T>(nothing: T): (fault: unknown) => T {
  return (fault) => {
    if (fault instanceof Error && fault.message.startsWith('NOGROUP')) return nothing;
    throw fault;
  };
}
