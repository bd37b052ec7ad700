/** Simulation: messages between instances, as one stream per instance. Reading waits on a connection of its own. */
import type { TenantId } from '../../../scheduler/dist/domain/ids.js';
import { INBOX_IDLE_MS, type Inbox, type InboxMessage } from '../../../scheduler/dist/ports/inbox.js';
import type { Lines } from './servers/lines.ts';
import type { Shard } from './servers/shard.ts';
import { nextId, type StoredInbox, type StoredMessage } from './servers/shard-state.ts';
import { tags } from './servers/tags.ts';

export interface InboxSettings {
  readonly maxMessages: number;
  readonly maxDeliveries: number;
  /** Dead letters that are kept; 0: they are dropped. */
  readonly maxDead: number;
  readonly maxDeadOfTenant: number;
  /** How long a message lies after its last delivery before it is dead. */
  readonly minIdleToDieMs?: number;
  /** How long an inbox stays after it was opened last. */
  readonly idleMs?: number;
}

interface StuckMessage {
  readonly messageId: string;
  readonly idleMs: number;
  readonly deliveries: number;
}

export function createInbox(deps: { lines: Lines; planAfter: PlanAfter } & InboxSettings): Inbox {
  const { lines, planAfter, maxDeliveries, minIdleToDieMs = 0, idleMs: stayMs = INBOX_IDLE_MS } = deps;
  const on = <T>(instanceId: string, what: string, run: (shard: Shard) => T): Promise<T> =>
    lines.ask(tags.instance(instanceId), what, run);

  return {
    open: (instanceId) =>
      on(instanceId, 'open-inbox', ({ state, now }) => {
        const until = now() + stayMs;
        if (state.inboxes.get(instanceId, now()) !== undefined) state.inboxes.expire(instanceId, until);
        else state.inboxes.put(instanceId, emptyInbox(), until);
      }),

    send: (to, body) =>
      on(to, 'send-letter', (shard) => {
        const now = shard.now();
        const inbox = shard.state.inboxes.get(to, now);
        if (inbox === undefined) return 'gone';
        if (inbox.entries.size >= deps.maxMessages) return 'full';
        const id = nextId(inbox, now);
        inbox.entries.set(id, { body, deliveries: 0, deliveredAt: 0 });
        inbox.fresh.add(id);
        wakeReader(shard, to);
        return 'sent';
      }),

    take: (instanceId, { max, waitMs }) =>
      waitMs > 0
        ? lines.read<readonly InboxMessage[]>(
            tags.instance(instanceId),
            'read-inbox',
            waitMs,
            (shard, answer, isGone) =>
              readOrWait(shard, instanceId, { max, waitMs, planAfter, answer, isGone }),
          )
        : on(instanceId, 'read-inbox', (shard) => handOut(shard, instanceId, max)),

    async takeAgain(instanceId, { max, idleMs, except, tenantOf }) {
      const found = await on(instanceId, 'find-stuck', (shard) =>
        findStuck(shard, instanceId, max, idleMs, except),
      );
      let died = 0;
      for (const message of found) {
        if (message.deliveries < maxDeliveries || message.idleMs < minIdleToDieMs) continue;
        const body =
          tenantOf &&
          (await on(
            instanceId,
            'read-message',
            ({ state, now }) => state.inboxes.get(instanceId, now())?.entries.get(message.messageId)?.body,
          ));
        const tenantId = body === undefined ? undefined : await tenantOf?.(body);
        if (await on(instanceId, 'bury-message', (shard) => bury(shard, instanceId, message, tenantId, deps)))
          died += 1;
      }
      const again = found.filter(({ deliveries }) => deliveries < maxDeliveries);
      if (again.length === 0) return { messages: [], died };
      const messages = await on(instanceId, 'claim-letters', (shard) =>
        claim(shard, instanceId, again, idleMs),
      );
      return { messages, died };
    },

    ack: (instanceId, messageIds) =>
      on(instanceId, 'ack-messages', ({ state, now }) => {
        const inbox = state.inboxes.get(instanceId, now());
        for (const id of messageIds) removeMessage(inbox, id);
      }),

    close: (instanceId) =>
      on(instanceId, 'close-inbox', ({ state, now }) => {
        const inbox = state.inboxes.get(instanceId, now());
        if (inbox !== undefined && inbox.entries.size > 0) return 'not_empty';
        state.inboxes.delete(instanceId);
        return 'closed';
      }),

    size: (instanceId) =>
      on(instanceId, 'measure-inbox', ({ state, now }) => {
        const inbox = state.inboxes.get(instanceId, now());
        return {
          messages: inbox?.entries.size ?? 0,
          delivered: inbox?.delivered.size ?? 0,
          dead: state.deadLetters.get(instanceId, now())?.entries.size ?? 0,
        };
      }),
  };
}

/** Runs something later, whether or not the caller still lives. */
export type PlanAfter = (ms: number, run: () => void) => void;

const emptyInbox = (): StoredInbox => ({
  entries: new Map(),
  fresh: new Set(),
  delivered: new Set(),
  lastMs: 0,
  lastNumber: 0,
});

function removeMessage(inbox: StoredInbox | undefined, id: string): StoredMessage | undefined {
  const message = inbox?.entries.get(id);
  inbox?.entries.delete(id);
  inbox?.fresh.delete(id);
  inbox?.delivered.delete(id);
  return message;
}

function handOut(shard: Shard, instanceId: string, max: number): InboxMessage[] {
  const now = shard.now();
  const inbox = shard.state.inboxes.get(instanceId, now);
  const messages: InboxMessage[] = [];
  if (inbox === undefined) return messages;
  for (const messageId of inbox.fresh) {
    if (messages.length === max) break;
    inbox.fresh.delete(messageId);
    inbox.delivered.add(messageId);
    const message = inbox.entries.get(messageId) as StoredMessage;
    message.deliveries = 1;
    message.deliveredAt = now;
    messages.push({ messageId, body: message.body, deliveries: 1 });
  }
  return messages;
}

function readOrWait(
  shard: Shard,
  instanceId: string,
  read: {
    readonly max: number;
    readonly waitMs: number;
    readonly planAfter: PlanAfter;
    readonly answer: (messages: readonly InboxMessage[]) => void;
    readonly isGone: () => boolean;
  },
): void {
  const atOnce = handOut(shard, instanceId, read.max);
  // A stream that is not there has no readers either.
  if (atOnce.length > 0 || shard.state.inboxes.get(instanceId, shard.now()) === undefined) {
    read.answer(atOnce);
    return;
  }
  const waiting = shard.waiting.get(instanceId) ?? new Set();
  shard.waiting.set(instanceId, waiting);
  const wake = (): boolean => {
    waiting.delete(wake);
    if (read.isGone()) return false;
    read.answer(handOut(shard, instanceId, read.max));
    return true;
  };
  waiting.add(wake);
  read.planAfter(read.waitMs, () => {
    if (waiting.delete(wake) && shard.waiting.get(instanceId) === waiting) read.answer([]);
  });
}

function wakeReader(shard: Shard, instanceId: string): void {
  for (const wake of shard.waiting.get(instanceId) ?? []) if (wake()) return;
}

function findStuck(
  shard: Shard,
  instanceId: string,
  max: number,
  idleMs: number,
  except: ReadonlySet<string> | undefined,
): StuckMessage[] {
  const now = shard.now();
  const inbox = shard.state.inboxes.get(instanceId, now);
  const found: StuckMessage[] = [];
  if (inbox === undefined) return found;
  for (const messageId of inbox.delivered) {
    if (found.length === max) break;
    const { deliveredAt, deliveries } = inbox.entries.get(messageId) as StoredMessage;
    const idle = now - deliveredAt;
    if (idle >= idleMs && except?.has(messageId) !== true)
      found.push({ messageId, idleMs: idle, deliveries });
  }
  return found;
}

/** A message that another reader claimed in between is not idle any more. */
function claim(
  shard: Shard,
  instanceId: string,
  stuck: readonly StuckMessage[],
  idleMs: number,
): InboxMessage[] {
  const now = shard.now();
  const inbox = shard.state.inboxes.get(instanceId, now);
  return stuck.flatMap(({ messageId, deliveries }) => {
    const message = inbox?.delivered.has(messageId) ? inbox.entries.get(messageId) : undefined;
    if (message === undefined || now - message.deliveredAt < idleMs) return [];
    message.deliveries += 1;
    message.deliveredAt = now;
    return [{ messageId, body: message.body, deliveries: deliveries + 1 }];
  });
}

/** False: it is gone already. */
function bury(
  shard: Shard,
  instanceId: string,
  { messageId, deliveries }: StuckMessage,
  tenantId: TenantId | undefined,
  { maxDead, maxDeadOfTenant }: InboxSettings,
): boolean {
  const now = shard.now();
  const message = removeMessage(shard.state.inboxes.get(instanceId, now), messageId);
  if (message === undefined) return false;
  if (maxDead === 0) return true;
  const { deadLetters } = shard.state;
  const dead = deadLetters.get(instanceId, now) ?? { entries: new Map(), lastMs: 0, lastNumber: 0 };
  const ofTenant = [...dead.entries].filter(([, letter]) => letter.tenantId === tenantId);
  for (const [oldest] of ofTenant.slice(0, Math.max(0, ofTenant.length - maxDeadOfTenant + 1)))
    dead.entries.delete(oldest);
  dead.entries.set(nextId(dead, now), { body: message.body, deliveries, tenantId });
  for (const oldest of dead.entries.keys()) {
    if (dead.entries.size <= maxDead) break;
    dead.entries.delete(oldest);
  }
  // The dead letters of an instance that came back have no expiry any more.
  deadLetters.put(instanceId, dead);
  return true;
}
