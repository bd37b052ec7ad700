/** Messages between instances that share one process: for the simulator and for tests, and the readable specification of the Redis one. */
import type { Clock } from '../../ports/clock.ts';
import { INBOX_IDLE_MS, type Inbox, type InboxMessage, LONGEST_TOLD, MOST_TOLD } from '../../ports/inbox.ts';
import { createDeadShelf, type DeadShelf } from './dead-letters.ts';

export interface InboxLimits {
  readonly maxMessages: number;
  readonly maxDeliveries: number;
  /** Dead letters that are kept; 0: they are dropped. */
  readonly maxDead: number;
  /** How long a message lies after its last delivery before it is dead. */
  readonly minIdleToDieMs?: number;
  /** How long an inbox stays that nobody opens again. */
  readonly idleMs?: number;
}

interface Kept {
  readonly messageId: string;
  readonly body: string;
  deliveries: number;
  /** When it was last handed out; undefined = not yet. */
  handedOutAt: number | undefined;
}

interface Box {
  readonly messages: Map<string, Kept>;
  isOpen: boolean;
  endsAt: number;
  wake: (() => void) | undefined;
  readonly listeners: Set<(messages: readonly InboxMessage[]) => void>;
}

export function createInbox(deps: { clock: Clock; shelf?: DeadShelf } & InboxLimits): Inbox {
  const { clock, shelf = createDeadShelf(deps), idleMs: stayMs = INBOX_IDLE_MS } = deps;
  const boxes = new Map<string, Box>();
  let lastId = 0;

  function handOut(kept: Kept): InboxMessage {
    kept.deliveries += 1;
    kept.handedOutAt = clock.now();
    return { messageId: kept.messageId, body: kept.body, deliveries: kept.deliveries };
  }

  const handedOut = ({ messages }: Box): number =>
    [...messages.values()].filter(({ handedOutAt }) => handedOutAt !== undefined).length;

  const fresh = (box: Box | undefined, max: number): InboxMessage[] =>
    [...(box?.messages.values() ?? [])]
      .filter(({ handedOutAt }) => handedOutAt === undefined)
      .slice(0, max)
      .map(handOut);

  function arrival(box: Box, waitMs: number): Promise<void> {
    return new Promise((resolve) => {
      const cancel = clock.after(waitMs, resolve);
      box.wake = () => {
        cancel();
        resolve();
      };
    });
  }

  function bury(instanceId: string, box: Box, kept: Kept): void {
    box.messages.delete(kept.messageId);
    shelf.bury(instanceId, kept);
  }

  function find(instanceId: string): Box | undefined {
    const box = boxes.get(instanceId);
    if (box === undefined || clock.now() < box.endsAt) return box;
    boxes.delete(instanceId);
    return undefined;
  }

  return {
    async open(instanceId) {
      const endsAt = clock.now() + stayMs;
      const box = find(instanceId);
      if (box === undefined) {
        boxes.set(instanceId, {
          messages: new Map(),
          isOpen: true,
          endsAt,
          wake: undefined,
          listeners: new Set(),
        });
      } else Object.assign(box, { isOpen: true, endsAt });
    },
    async send(to, body) {
      const box = find(to);
      if (box === undefined || !box.isOpen) return 'gone';
      if (box.messages.size >= deps.maxMessages) return 'full';
      const messageId = String(++lastId);
      box.messages.set(messageId, { messageId, body, deliveries: 0, handedOutAt: undefined });
      const room = body.length > LONGEST_TOLD ? 0 : MOST_TOLD - handedOut(box);
      if (box.listeners.size === 0 || room <= 0) box.wake?.();
      else {
        const told = fresh(box, room);
        for (const hear of box.listeners) hear(told);
      }
      return 'sent';
    },
    async listen(instanceId, hear) {
      // One that nobody has opened tells nobody.
      const listeners = find(instanceId)?.listeners;
      listeners?.add(hear);
      return async () => void listeners?.delete(hear);
    },
    async take(instanceId, { max, waitMs }) {
      const box = find(instanceId);
      const found = fresh(box, max);
      if (found.length > 0 || box === undefined || waitMs <= 0) return found;
      await arrival(box, waitMs);
      return fresh(box, max);
    },
    async takeAgain(instanceId, { max, idleMs, except }) {
      const box = find(instanceId);
      if (box === undefined) return { messages: [], died: 0 };
      const idleOf = ({ handedOutAt = Number.POSITIVE_INFINITY }: Kept): number => clock.now() - handedOutAt;
      const stuck = [...box.messages.values()]
        .filter((kept) => idleOf(kept) >= idleMs && except?.has(kept.messageId) !== true)
        .slice(0, max);
      const isHopeless = ({ deliveries }: Kept): boolean => deliveries >= deps.maxDeliveries;
      const dead = stuck.filter((kept) => isHopeless(kept) && idleOf(kept) >= (deps.minIdleToDieMs ?? 0));
      for (const kept of dead) bury(instanceId, box, kept);
      return { messages: stuck.filter((kept) => !isHopeless(kept)).map(handOut), died: dead.length };
    },
    async confirm(instanceId, messageIds) {
      for (const messageId of messageIds) find(instanceId)?.messages.delete(messageId);
    },
    async close(instanceId) {
      const box = find(instanceId);
      if (box === undefined) return 'closed';
      if (box.messages.size > 0) return 'not_empty';
      box.isOpen = false;
      return 'closed';
    },
    async size(instanceId) {
      const box = find(instanceId);
      const messages = [...(box?.messages.values() ?? [])];
      return {
        messages: messages.length,
        handedOut: messages.filter(({ handedOutAt }) => handedOutAt !== undefined).length,
        dead: shelf.of(instanceId).length,
      };
    },
  };
}
