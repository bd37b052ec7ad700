/** Dead letters of instances that share one process: for the simulator and for tests, and the readable specification of the Redis one. */
import type { Clock } from '../../ports/clock.ts';
import {
  type DeadLetters,
  HEAD_BYTES,
  MOST_ORPHANED,
  ORPHANED_FOR_MS,
  PAGE_BYTES,
  type WholeDeadLetter,
} from '../../ports/dead-letters.ts';
import type { Inbox } from '../../ports/inbox.ts';

/** Where inboxes put what they cannot get handled. */
export interface DeadShelf {
  bury(instanceId: string, letter: { readonly body: string; readonly deliveries: number }): void;
  /** Oldest first. */
  of(instanceId: string): readonly WholeDeadLetter[];
  remove(instanceId: string, messageIds: readonly string[]): void;
}

export function createDeadShelf(deps: { clock: Clock; maxDead: number }): DeadShelf {
  const shelves = new Map<string, WholeDeadLetter[]>();
  let buried = 0;
  return {
    bury(instanceId, { body, deliveries }) {
      const letters = shelves.get(instanceId) ?? [];
      const diedAt = deps.clock.now();
      const text = Buffer.from(body);
      letters.push({
        messageId: `${diedAt}-${++buried}`,
        diedAt,
        deliveries,
        body,
        bytes: text.length,
        head: text.subarray(0, HEAD_BYTES).toString(),
      });
      if (letters.length > deps.maxDead) letters.shift();
      shelves.set(instanceId, letters);
    },
    of: (instanceId) => shelves.get(instanceId) ?? [],
    remove(instanceId, messageIds) {
      const left = (shelves.get(instanceId) ?? []).filter(({ messageId }) => !messageIds.includes(messageId));
      if (left.length === 0) shelves.delete(instanceId);
      else shelves.set(instanceId, left);
    },
  };
}

export function createDeadLetters(deps: {
  clock: Clock;
  shelf: DeadShelf;
  inbox: Pick<Inbox, 'send'>;
  orphanedForMs?: number;
}): DeadLetters {
  const { clock, shelf, inbox, orphanedForMs = ORPHANED_FOR_MS } = deps;
  /** Name → when it went, and until when what it left is kept. */
  const orphans = new Map<string, { goneAt: number; keptUntil: number }>();

  /** Oldest first. What an instance left stays for good again with the next letter that died there. */
  function messagesOf(instanceId: string): readonly WholeDeadLetter[] {
    const letters = shelf.of(instanceId);
    const orphan = orphans.get(instanceId);
    if (orphan === undefined || orphan.keptUntil > clock.now()) return letters;
    return (letters.at(-1)?.diedAt ?? 0) > orphan.goneAt ? letters : [];
  }

  const find = (instanceId: string, wanted: string): WholeDeadLetter | undefined =>
    messagesOf(instanceId).find(({ messageId }) => messageId === wanted);

  return {
    async list(instanceId, { max, after }) {
      const all = messagesOf(instanceId).filter(
        ({ messageId }) => after === undefined || isBefore(messageId, after),
      );
      const letters: WholeDeadLetter[] = [];
      let bytes = 0;
      for (const letter of all.toReversed()) {
        if (letters.length >= max || bytes >= PAGE_BYTES) break;
        letters.push(letter);
        bytes += letter.bytes;
      }
      return {
        letters: letters.map(({ body: _, ...shown }) => shown),
        isLast: letters.length === all.length,
      };
    },
    async get(instanceId, messageId) {
      return find(instanceId, messageId);
    },
    async replay(instanceId, messageId, to) {
      const letter = find(instanceId, messageId);
      if (letter === undefined) return 'absent';
      const result = await inbox.send(to, letter.body);
      if (result !== 'sent') return result;
      shelf.remove(instanceId, [messageId]);
      return 'replayed';
    },
    async purge(instanceId, { diedBefore = Number.POSITIVE_INFINITY, max }) {
      const meant = messagesOf(instanceId).filter(({ diedAt }) => diedAt < diedBefore);
      const gone = meant.slice(-max);
      shelf.remove(
        instanceId,
        gone.map(({ messageId }) => messageId),
      );
      return { purged: gone.length, isDone: gone.length === meant.length };
    },
    async orphan(instanceId) {
      if (shelf.of(instanceId).length === 0) return;
      const goneAt = clock.now();
      orphans.delete(instanceId);
      orphans.set(instanceId, { goneAt, keptUntil: goneAt + orphanedForMs });
      const [longest] = orphans.keys();
      if (orphans.size > MOST_ORPHANED && longest !== undefined) orphans.delete(longest);
    },
    async orphaned() {
      return [...orphans.keys()];
    },
  };
}

function isBefore(messageId: string, other: string): boolean {
  const [[at = 0, number = 0], [otherAt = 0, otherNumber = 0]] = [messageId, other].map((id) =>
    id.split('-').map(Number),
  ) as [number[], number[]];
  return at === otherAt ? number < otherNumber : at < otherAt;
}
