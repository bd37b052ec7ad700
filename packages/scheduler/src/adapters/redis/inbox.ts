/**
 * Messages between instances, as one stream per instance. Whoever listens is told them by pub/sub as they are sent, which costs no
 * read; where nobody can be told they are read. Reading blocks, and has a connection of its own for it.
 */
import type { Clock } from '../../ports/clock.ts';
import { INBOX_IDLE_MS, type Inbox, type InboxMessage } from '../../ports/inbox.ts';
import { asDependency } from './connection/dependency.ts';
import type { RedisConnection } from './connection/redis-connection.ts';
import { createAckMessages } from './inbox/ack-messages.ts';
import { createBuryMessage } from './inbox/bury-message.ts';
import { createCloseInbox } from './inbox/close-inbox.ts';
import { createOpenInbox } from './inbox/open-inbox.ts';
import { createOutgoingMessages } from './inbox/outgoing-messages.ts';
import { createPushedMessages } from './inbox/pushed-messages.ts';
import { createSendMessages } from './inbox/send-messages.ts';
import { findStuckMessages, type StuckMessage } from './inbox/stuck-messages.ts';
import type { Keys } from './keys.ts';

export interface InboxSettings {
  readonly group: string;
  readonly maxMessages: number;
  readonly maxDeliveries: number;
  /** Dead letters that are kept; 0: they are dropped. */
  readonly maxDead: number;
  /** How long a message lies after its last delivery before it is dead. */
  readonly minIdleToDieMs?: number;
  /** How long an inbox stays that nobody opens again. */
  readonly idleMs?: number;
}

/** There is one reader at a time, and whoever adopts an inbox reads as the same one. */
const READER = 'reader';

type Entry = [id: string, fields: string[] | null] | null;

export function createInbox(
  deps: {
    connection: RedisConnection;
    /** Only listens. */
    ear: RedisConnection;
    /** For reads that wait: nothing else may wait behind them. Asked each time, since a stuck one is replaced. */
    blocking: () => RedisConnection;
    keys: Keys;
    clock: Clock;
  } & InboxSettings,
): Inbox {
  const { connection, keys, group, minIdleToDieMs = 0, idleMs = INBOX_IDLE_MS } = deps;
  const openInbox = createOpenInbox(connection, keys, { group, idleMs });
  const send = createOutgoingMessages(
    createSendMessages(connection, keys, { maxMessages: deps.maxMessages, group, reader: READER }),
  );
  const listen = createPushedMessages(deps);
  const close = createCloseInbox(connection, keys);
  const confirm = createAckMessages(connection, keys, group);
  const bury = createBuryMessage(connection, keys, deps);

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
    // Whoever else claimed it in between has it: it is not idle any more.
    const ids = stuck.map(({ messageId }) => messageId);
    const claimed = await connection.call('XCLAIM', inbox, group, READER, idleMs, ...ids);
    return messagesOf(claimed as Entry[], (id) => deliveries.get(id) ?? 1);
  }

  async function takeAgain(
    instanceId: string,
    limits: { max: number; idleMs: number; except?: ReadonlySet<string> },
  ): Promise<{ messages: readonly InboxMessage[]; died: number }> {
    const inbox = keys.inbox(instanceId);
    const found = await findStuckMessages(connection, inbox, { group, except: new Set(), ...limits });
    const isHopeless = ({ deliveries }: StuckMessage): boolean => deliveries >= deps.maxDeliveries;
    let died = 0;
    for (const message of found.filter(isHopeless)) {
      if (message.idleMs >= minIdleToDieMs && (await bury(instanceId, message))) died += 1;
    }
    const again = found.filter((message) => !isHopeless(message));
    return { messages: await claim(inbox, again, limits.idleMs), died };
  }

  return {
    open: (instanceId) => asDependency('opening an inbox', () => openInbox(instanceId)),
    send: (to, body) => asDependency('sending a message', () => send(to, body)),
    take: (instanceId, { max, waitMs }) =>
      asDependency('reading an inbox', () =>
        read(instanceId, max, waitMs).catch(ifGone<readonly InboxMessage[]>([])),
      ),
    listen: (instanceId, hear) => asDependency('listening for messages', () => listen(instanceId, hear)),
    takeAgain: (instanceId, limits) =>
      asDependency('reading stuck messages', () =>
        takeAgain(instanceId, limits).catch(ifGone({ messages: [], died: 0 })),
      ),
    confirm: (instanceId, messageIds) =>
      asDependency('confirming messages', () => confirm(instanceId, messageIds)),
    close: (instanceId) => asDependency('closing an inbox', () => close(instanceId)),
    size: (instanceId) =>
      asDependency('measuring an inbox', async () => {
        const inbox = keys.inbox(instanceId);
        const [messages, dead, pending] = await Promise.all([
          connection.xlen(inbox),
          connection.xlen(keys.deadLetters(instanceId)),
          connection.xpending(inbox, group).catch(ifGone([0])),
        ]);
        return { messages, dead, handedOut: Number(pending[0] ?? 0) };
      }),
  };
}

function messagesOf(entries: readonly Entry[], deliveries: (id: string) => number): InboxMessage[] {
  return entries.flatMap((entry) => {
    // One that was deleted meanwhile comes without fields, or as nothing, depending on the server.
    const [messageId, fields] = entry ?? ['', null];
    return fields === null ? [] : [{ messageId, body: fields[1] ?? '', deliveries: deliveries(messageId) }];
  });
}

/** An inbox that was never opened, or is closed, holds nothing. */
function ifGone<T>(nothing: T): (fault: unknown) => T {
  return (fault) => {
    if (fault instanceof Error && fault.message.startsWith('NOGROUP')) return nothing;
    throw fault;
  };
}
