/** Dead letters: one stream per instance, which its inbox fills. Cold path. */
import {
  type DeadLetters,
  HEAD_BYTES,
  MESSAGE_ID,
  MOST_ORPHANED,
  ORPHANED_FOR_MS,
  type WholeDeadLetter,
} from '../../ports/dead-letters.ts';
import type { Inbox } from '../../ports/inbox.ts';
import { asDependency } from './connection/dependency.ts';
import type { RedisConnection } from './connection/redis-connection.ts';
import { createNoteOrphan } from './dead-letters/note-orphan.ts';
import { createPageDeadLetters, timeOf } from './dead-letters/page-dead-letters.ts';
import { createRemoveDeadLetters } from './dead-letters/remove-dead-letters.ts';
import type { Keys } from './keys.ts';
import { openOrKeep, PLAIN, type SealedPayload } from './sealed-payload.ts';

/** A server answers no other client while it removes these. */
const MOST_PER_SCRIPT = 256;

export function createDeadLetters(deps: {
  connection: RedisConnection;
  keys: Keys;
  inbox: Pick<Inbox, 'send'>;
  payload?: SealedPayload;
  orphanedForMs?: number;
}): DeadLetters {
  const { connection, keys, inbox, payload = PLAIN, orphanedForMs = ORPHANED_FOR_MS } = deps;
  const page = createPageDeadLetters(connection, keys, payload);
  const remove = createRemoveDeadLetters(connection, keys);
  const noteOrphan = createNoteOrphan(connection, keys);

  async function find(instanceId: string, messageId: string): Promise<WholeDeadLetter | undefined> {
    if (!MESSAGE_ID.test(messageId)) return undefined;
    const [entry] = await connection.xrange(keys.deadLetters(instanceId), messageId, messageId);
    return entry === undefined ? undefined : wholeDeadLetter(entry, payload);
  }

  return {
    list: (instanceId, { max, after }) =>
      asDependency('listing dead letters', () =>
        page(instanceId, { from: after === undefined ? '+' : `(${after}`, max, headBytes: HEAD_BYTES }),
      ),
    get: (instanceId, messageId) => asDependency('reading a dead letter', () => find(instanceId, messageId)),
    replay: (instanceId, messageId, to) =>
      asDependency('replaying a dead letter', async () => {
        const deadLetter = await find(instanceId, messageId);
        if (deadLetter === undefined) return 'absent';
        // The two keys are in different hash slots. It sends first, so that a fault in between causes a second delivery and no loss.
        const result = await inbox.send(to, deadLetter.body);
        if (result !== 'sent') return result;
        await remove(instanceId, [messageId]);
        return 'replayed';
      }),
    purge: (instanceId, { diedBefore, max }) =>
      asDependency('purging dead letters', async () => {
        const from = diedBefore === undefined ? '+' : String(Math.max(0, diedBefore - 1));
        let purged = 0;
        for (;;) {
          const found = await page(instanceId, {
            from,
            max: Math.min(max - purged, MOST_PER_SCRIPT),
            headBytes: 0,
          });
          const messageIds = found.letters.map(({ messageId }) => messageId);
          if (messageIds.length > 0) purged += await remove(instanceId, messageIds);
          if (found.isLast || purged >= max) return { purged, isDone: found.isLast };
        }
      }),
    remove: (instanceId, messageIds) =>
      asDependency('removing dead letters', async () => {
        let removed = 0;
        for (let at = 0; at < messageIds.length; at += MOST_PER_SCRIPT)
          removed += await remove(instanceId, messageIds.slice(at, at + MOST_PER_SCRIPT));
        return removed;
      }),
    orphan: (instanceId) =>
      asDependency('keeping dead letters of a removed instance', async () => {
        const dead = keys.deadLetters(instanceId);
        if ((await connection.xlen(dead)) === 0) return;
        await noteOrphan(instanceId, orphanedForMs);
        await connection.pexpire(dead, orphanedForMs);
        await connection.pexpire(keys.deadLetterTenants(instanceId), orphanedForMs);
      }),
    orphaned: () =>
      asDependency('listing instances that left dead letters', () =>
        connection.zrange(keys.orphanedDeadLetters, 0, String(MOST_ORPHANED - 1)),
      ),
  };
}

function wholeDeadLetter(
  [messageId, flat]: [id: string, fields: string[]],
  payload: SealedPayload,
): WholeDeadLetter {
  const fields = new Map<string, string>();
  for (let at = 0; at + 1 < flat.length; at += 2) fields.set(flat[at] as string, flat[at + 1] as string);
  const body = openOrKeep(payload, fields.get('body') ?? '');
  const text = Buffer.from(body);
  return {
    messageId,
    diedAt: timeOf(messageId),
    deliveries: Number(fields.get('deliveries') ?? 0),
    bytes: text.length,
    head: text.subarray(0, HEAD_BYTES).toString(),
    body,
  };
}
