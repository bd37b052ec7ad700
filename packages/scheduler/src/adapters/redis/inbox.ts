/** Letters between instances, as one stream per instance. Reading blocks, and has a connection of its own for it. */
import type { Inbox, Letter } from '../../ports/inbox.ts';
import { asDependency } from './dependency.ts';
import { createBuryLetter } from './inbox/bury-letter.ts';
import { createCloseInbox } from './inbox/close-inbox.ts';
import { createSendLetter } from './inbox/send-letter.ts';
import type { Keys } from './keys.ts';
import type { RedisConnection } from './redis-connection.ts';

export interface InboxSettings {
  readonly group: string;
  readonly maxLetters: number;
  readonly maxDeliveries: number;
  readonly maxDead: number;
}

/** There is one reader at a time, and whoever adopts an inbox reads as the same one. */
const READER = 'reader';

type Entry = [id: string, fields: string[] | null];

export function createInbox(
  deps: {
    connection: RedisConnection;
    /** For reads that wait: nothing else may wait behind them. */
    blocking: RedisConnection;
    keys: Keys;
  } & InboxSettings,
): Inbox {
  const { connection, blocking, keys, group } = deps;
  const send = createSendLetter(connection, keys, deps.maxLetters);
  const close = createCloseInbox(connection, keys);
  const bury = createBuryLetter(connection, keys, deps);

  async function read(instanceId: string, max: number, waitMs: number): Promise<readonly Letter[]> {
    const inbox = keys.inbox(instanceId);
    const answer = (await (waitMs > 0
      ? blocking.xreadgroup('GROUP', group, READER, 'COUNT', max, 'BLOCK', waitMs, 'STREAMS', inbox, '>')
      : connection.xreadgroup('GROUP', group, READER, 'COUNT', max, 'STREAMS', inbox, '>'))) as unknown as
      | [[string, Entry[]]]
      | null;
    return lettersOf(answer?.[0][1] ?? [], () => 1);
  }

  async function deliveriesOf(inbox: string, entries: readonly Entry[]): Promise<Map<string, number>> {
    const [first, last] = [entries[0]?.[0], entries.at(-1)?.[0]];
    if (first === undefined || last === undefined) return new Map();
    const pending = (await connection.xpending(inbox, group, first, last, entries.length, READER)) as [
      string,
      string,
      number,
      number,
    ][];
    return new Map(pending.map(([id, , , deliveries]) => [id, deliveries]));
  }

  return {
    open: (instanceId) =>
      asDependency('opening an inbox', async () => {
        try {
          await connection.xgroup('CREATE', keys.inbox(instanceId), group, '0', 'MKSTREAM');
        } catch (fault) {
          // It is open already.
          if (!(fault instanceof Error) || !fault.message.startsWith('BUSYGROUP')) throw fault;
        }
      }),
    send: (to, body) => asDependency('sending a letter', () => send(to, body)),
    take: (instanceId, { max, waitMs }) =>
      asDependency('reading an inbox', () =>
        read(instanceId, max, waitMs).catch(ifGone<readonly Letter[]>([])),
      ),
    takeAgain: (instanceId, { max, idleMs }) =>
      asDependency('reading stuck letters', async () => {
        const inbox = keys.inbox(instanceId);
        const [, entries] = (await connection
          .xautoclaim(inbox, group, READER, idleMs, '0', 'COUNT', max)
          .catch(ifGone(['', []]))) as [string, Entry[]];
        const deliveries = await deliveriesOf(inbox, entries);
        const claimed = lettersOf(entries, (id) => deliveries.get(id) ?? 1);
        const letters = claimed.filter((letter) => letter.deliveries <= deps.maxDeliveries);
        let died = 0;
        for (const letter of claimed) {
          if (letter.deliveries > deps.maxDeliveries && (await bury(instanceId, beforeLast(letter))))
            died += 1;
        }
        return { letters, died };
      }),
    confirm: (instanceId, letterIds) =>
      asDependency('confirming letters', async () => {
        if (letterIds.length === 0) return;
        const inbox = keys.inbox(instanceId);
        await connection.xack(inbox, group, ...letterIds);
        await connection.xdel(inbox, ...letterIds);
      }),
    close: (instanceId) => asDependency('closing an inbox', () => close(instanceId)),
    size: (instanceId) =>
      asDependency('measuring an inbox', async () => {
        const inbox = keys.inbox(instanceId);
        const [letters, dead, pending] = await Promise.all([
          connection.xlen(inbox),
          connection.xlen(keys.deadLetters(instanceId)),
          connection.xpending(inbox, group).catch(ifGone([0])),
        ]);
        return { letters, dead, handedOut: Number(pending[0] ?? 0) };
      }),
  };
}

/** Claiming it counted as one more delivery, but it was not handed out. */
const beforeLast = (letter: Letter): Letter => ({ ...letter, deliveries: letter.deliveries - 1 });

function lettersOf(entries: readonly Entry[], deliveries: (id: string) => number): Letter[] {
  return entries.flatMap(([letterId, fields]) =>
    // A letter that was deleted meanwhile comes without fields.
    fields === null ? [] : [{ letterId, body: fields[1] ?? '', deliveries: deliveries(letterId) }],
  );
}

/** An inbox that was never opened, or is closed, holds nothing. */
function ifGone<T>(nothing: T): (fault: unknown) => T {
  return (fault) => {
    if (fault instanceof Error && fault.message.startsWith('NOGROUP')) return nothing;
    throw fault;
  };
}
