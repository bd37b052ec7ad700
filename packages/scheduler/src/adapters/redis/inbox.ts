/**
 * Letters between instances, as one stream per instance. Whoever listens is told them by pub/sub as they are sent, which costs no
 * read; where nobody can be told they are read. Reading blocks, and has a connection of its own for it.
 */
import type { Clock } from '../../ports/clock.ts';
import { INBOX_IDLE_MS, type Inbox, type Letter } from '../../ports/inbox.ts';
import { asDependency } from './connection/dependency.ts';
import type { RedisConnection } from './connection/redis-connection.ts';
import { createConfirmLetters } from './inbox/ack-messages.ts';
import { createBuryLetter } from './inbox/bury-message.ts';
import { createCloseInbox } from './inbox/close-inbox.ts';
import { createOpenInbox } from './inbox/open-inbox.ts';
import { createOutgoingLetters } from './inbox/outgoing-messages.ts';
import { createToldLetters } from './inbox/pushed-messages.ts';
import { createSendLetters } from './inbox/send-messages.ts';
import { findStuckLetters, type StuckLetter } from './inbox/stuck-messages.ts';
import type { InstanceRounds } from './instance-rounds.ts';
import type { Keys } from './keys.ts';

export interface InboxSettings {
  readonly group: string;
  readonly maxLetters: number;
  readonly maxDeliveries: number;
  /** Dead letters that are kept; 0: they are dropped. */
  readonly maxDead: number;
  /** How long a letter lies after its last delivery before it is dead. */
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
    /** Takes along what is said to one's own ear. Absent: it is said by itself. */
    rounds?: Pick<InstanceRounds, 'join'>;
  } & InboxSettings,
): Inbox {
  const { connection, keys, group, minIdleToDieMs = 0, idleMs = INBOX_IDLE_MS } = deps;
  const openInbox = createOpenInbox(connection, keys, { group, idleMs });
  const send = createOutgoingLetters(
    createSendLetters(connection, keys, { maxLetters: deps.maxLetters, group, reader: READER }),
  );
  const listen = createToldLetters(deps);
  const close = createCloseInbox(connection, keys);
  const confirm = createConfirmLetters(connection, keys, group);
  const bury = createBuryLetter(connection, keys, deps);

  async function read(instanceId: string, max: number, waitMs: number): Promise<readonly Letter[]> {
    const inbox = keys.inbox(instanceId);
    const answer = (await (waitMs > 0
      ? deps
          .blocking()
          .xreadgroup('GROUP', group, READER, 'COUNT', max, 'BLOCK', waitMs, 'STREAMS', inbox, '>')
      : connection.xreadgroup('GROUP', group, READER, 'COUNT', max, 'STREAMS', inbox, '>'))) as unknown as
      | [[string, Entry[]]]
      | null;
    return lettersOf(answer?.[0][1] ?? [], () => 1);
  }

  async function claim(inbox: string, stuck: readonly StuckLetter[], idleMs: number): Promise<Letter[]> {
    if (stuck.length === 0) return [];
    const deliveries = new Map(stuck.map((letter) => [letter.letterId, letter.deliveries + 1]));
    // Whoever else claimed it in between has it: it is not idle any more.
    const ids = stuck.map(({ letterId }) => letterId);
    const claimed = await connection.call('XCLAIM', inbox, group, READER, idleMs, ...ids);
    return lettersOf(claimed as Entry[], (id) => deliveries.get(id) ?? 1);
  }

  async function takeAgain(
    instanceId: string,
    limits: { max: number; idleMs: number; except?: ReadonlySet<string> },
  ): Promise<{ letters: readonly Letter[]; died: number }> {
    const inbox = keys.inbox(instanceId);
    const found = await findStuckLetters(connection, inbox, { group, except: new Set(), ...limits });
    const isHopeless = ({ deliveries }: StuckLetter): boolean => deliveries >= deps.maxDeliveries;
    let died = 0;
    for (const letter of found.filter(isHopeless)) {
      if (letter.idleMs >= minIdleToDieMs && (await bury(instanceId, letter))) died += 1;
    }
    const again = found.filter((letter) => !isHopeless(letter));
    return { letters: await claim(inbox, again, limits.idleMs), died };
  }

  return {
    open: (instanceId) => asDependency('opening an inbox', () => openInbox(instanceId)),
    send: (to, body) => asDependency('sending a letter', () => send(to, body)),
    take: (instanceId, { max, waitMs }) =>
      asDependency('reading an inbox', () =>
        read(instanceId, max, waitMs).catch(ifGone<readonly Letter[]>([])),
      ),
    listen: (instanceId, hear) => asDependency('listening for letters', () => listen(instanceId, hear)),
    takeAgain: (instanceId, limits) =>
      asDependency('reading stuck letters', () =>
        takeAgain(instanceId, limits).catch(ifGone({ letters: [], died: 0 })),
      ),
    confirm: (instanceId, letterIds) =>
      asDependency('confirming letters', () => confirm(instanceId, letterIds)),
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

function lettersOf(entries: readonly Entry[], deliveries: (id: string) => number): Letter[] {
  return entries.flatMap((entry) => {
    // One that was deleted meanwhile comes without fields, or as nothing, depending on the server.
    const [letterId, fields] = entry ?? ['', null];
    return fields === null ? [] : [{ letterId, body: fields[1] ?? '', deliveries: deliveries(letterId) }];
  });
}

/** An inbox that was never opened, or is closed, holds nothing. */
function ifGone<T>(nothing: T): (fault: unknown) => T {
  return (fault) => {
    if (fault instanceof Error && fault.message.startsWith('NOGROUP')) return nothing;
    throw fault;
  };
}
