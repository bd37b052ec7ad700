/** Simulation: dead letters, one stream per instance, to which its inbox moves messages that could not be handled. Cold path. */
import {
  type DeadLetter,
  type DeadLetters,
  HEAD_BYTES,
  MOST_ORPHANED,
  ORPHANED_FOR_MS,
  PAGE_BYTES,
  type WholeDeadLetter,
} from '../../../scheduler/dist/ports/dead-letters.js';
import type { Inbox } from '../../../scheduler/dist/ports/inbox.js';
import type { Lines } from './servers/lines.ts';
import type { Shard } from './servers/shard.ts';
import type { BuriedMessage } from './servers/shard-state.ts';
import { keys, tags } from './servers/tags.ts';

export function createDeadLetters(deps: {
  lines: Lines;
  inbox: Pick<Inbox, 'send'>;
  orphanedForMs?: number;
}): DeadLetters {
  const { lines, inbox, orphanedForMs = ORPHANED_FOR_MS } = deps;
  const on = <T>(instanceId: string, what: string, run: (shard: Shard) => T): Promise<T> =>
    lines.ask(tags.instance(instanceId), what, run);

  const get = (instanceId: string, messageId: string): Promise<WholeDeadLetter | undefined> =>
    on(instanceId, 'read-dead-letter', ({ state, now }) => {
      const letter = state.deadLetters.get(instanceId, now())?.entries.get(messageId);
      return letter && wholeDeadLetter(messageId, letter);
    });

  return {
    list: (instanceId, { max, after }) =>
      on(instanceId, 'page-dead-letters', (shard) => {
        const all = newestFirst(shard, instanceId).filter(
          ([messageId]) => after === undefined || isEarlier(messageId, after),
        );
        const letters: DeadLetter[] = [];
        let bytes = 0;
        for (const [messageId, letter] of all) {
          if (letters.length === max || bytes >= PAGE_BYTES) break;
          const { body: _, ...shown } = wholeDeadLetter(messageId, letter);
          letters.push(shown);
          bytes += shown.bytes;
        }
        return { letters, isLast: letters.length === all.length };
      }),
    get,
    async replay(instanceId, messageId, to) {
      const letter = await get(instanceId, messageId);
      if (letter === undefined) return 'absent';
      // The two may lie on different shards. The message is sent first, so that a failure in between causes a second delivery and loses
      // no dead letter.
      const result = await inbox.send(to, letter.body);
      if (result !== 'sent') return result;
      await on(instanceId, 'remove-dead-letters', (shard) => remove(shard, instanceId, [messageId]));
      return 'replayed';
    },
    purge: (instanceId, { diedBefore, max }) =>
      on(instanceId, 'purge-dead-letters', (shard) => {
        const all = newestFirst(shard, instanceId).filter(
          ([messageId]) => diedBefore === undefined || timeOf(messageId) < diedBefore,
        );
        const some = all.slice(0, max).map(([messageId]) => messageId);
        remove(shard, instanceId, some);
        return { purged: some.length, isDone: some.length === all.length };
      }),
    remove: (instanceId, messageIds) =>
      on(instanceId, 'remove-dead-letters', (shard) => remove(shard, instanceId, messageIds)),
    async orphan(instanceId) {
      const isEmpty = await on(
        instanceId,
        'count-dead-letters',
        ({ state, now }) => state.deadLetters.get(instanceId, now()) === undefined,
      );
      if (isEmpty) return;
      await lines.ask(tags.key(keys.orphans), 'note-orphan', (shard) =>
        noteOrphan(shard, instanceId, orphanedForMs),
      );
      await on(instanceId, 'expire-dead-letters', ({ state, now }) =>
        state.deadLetters.expire(instanceId, now() + orphanedForMs),
      );
    },
    orphaned: () =>
      lines.ask(tags.key(keys.orphans), 'list-orphans', ({ state, now }) =>
        [...(state.names.get(keys.orphans, now()) ?? [])]
          .sort(([one, first], [other, second]) => first - second || (one < other ? -1 : 1))
          .slice(0, MOST_ORPHANED)
          .map(([name]) => name),
      ),
  };
}

const newestFirst = ({ state, now }: Shard, instanceId: string): [string, BuriedMessage][] =>
  [...(state.deadLetters.get(instanceId, now())?.entries ?? [])].reverse();

function remove({ state, now }: Shard, instanceId: string, messageIds: readonly string[]): number {
  const dead = state.deadLetters.get(instanceId, now());
  const removed = messageIds.filter((messageId) => dead?.entries.delete(messageId)).length;
  if (dead?.entries.size === 0) state.deadLetters.delete(instanceId);
  return removed;
}

function noteOrphan({ state, now }: Shard, instanceId: string, forMs: number): void {
  const orphans = state.names.get(keys.orphans, now()) ?? new Map<string, number>();
  for (const [name, until] of orphans) if (until <= now()) orphans.delete(name);
  orphans.set(instanceId, Math.max(orphans.get(instanceId) ?? 0, now() + forMs));
  const first = [...orphans].sort(([, one], [, other]) => one - other);
  for (const [name] of first.slice(0, Math.max(0, orphans.size - MOST_ORPHANED))) orphans.delete(name);
  state.names.put(keys.orphans, orphans);
}

function wholeDeadLetter(messageId: string, { body, deliveries }: BuriedMessage): WholeDeadLetter {
  const text = Buffer.from(body);
  const head = text.subarray(0, HEAD_BYTES).toString();
  return { messageId, diedAt: timeOf(messageId), deliveries, bytes: text.length, head, body };
}

/** The id of a stream entry contains the time at which it was written. */
const timeOf = (messageId: string): number => Number(messageId.split('-')[0]);
const numberOf = (messageId: string): number => Number(messageId.split('-')[1]);

const isEarlier = (one: string, other: string): boolean =>
  timeOf(one) < timeOf(other) || (timeOf(one) === timeOf(other) && numberOf(one) < numberOf(other));
