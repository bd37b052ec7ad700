/** Typed wrapper of page-dead-letters.lua. Cold path. */
import { type DeadLetter, type DeadLetterPage, PAGE_BYTES } from '../../../ports/dead-letters.ts';
import type { RedisConnection } from '../connection/redis-connection.ts';
import { loadScript } from '../connection/script.ts';
import type { Keys } from '../keys.ts';
import { openOrKeep, type SealedPayload } from '../sealed-payload.ts';

export function createPageDeadLetters(connection: RedisConnection, keys: Keys, payload: SealedPayload) {
  const run = loadScript(connection, import.meta.url, 'page-dead-letters');
  return async (
    instanceId: string,
    { from, max, headBytes }: { from: string; max: number; headBytes: number },
  ): Promise<DeadLetterPage> => {
    const [word, ...rest] = await run([keys.deadLetters(instanceId)], [from, max, headBytes, PAGE_BYTES]);
    const letters: DeadLetter[] = [];
    for (let at = 0; at < rest.length; at += 4) {
      const [messageId, deliveries, bytes, shown] = rest.slice(at, at + 4);
      const opened = openOrKeep(payload, String(shown));
      const isSealed = opened !== shown;
      letters.push({
        messageId: String(messageId),
        diedAt: timeOf(String(messageId)),
        deliveries: Number(deliveries),
        bytes: isSealed ? Buffer.byteLength(opened) : Number(bytes),
        head: isSealed ? Buffer.from(opened).subarray(0, headBytes).toString() : opened,
      });
    }
    return { letters, isLast: word === 'last' };
  };
}

/** An entry of a stream is named by the time at which it was written. */
export const timeOf = (messageId: string): number => Number(messageId.split('-')[0]);
