/** Typed wrapper of take-session.lua. Cold path. */
import type { SessionId } from '../../../domain/ids.ts';
import type { TakeResult } from '../../../ports/session-store.ts';
import type { RedisConnection } from '../connection/redis-connection.ts';
import { loadScript } from '../connection/script.ts';
import type { Keys } from '../keys.ts';
import type { SealedPayload } from '../sealed-payload.ts';

export function createTakeSession(connection: RedisConnection, keys: Keys, payload: SealedPayload) {
  const run = loadScript(connection, import.meta.url, 'take-session');
  return async (sessionId: SessionId, owner: string, from: string, ttlMs: number): Promise<TakeResult> => {
    const [word, body] = await run(
      [keys.sessionOwner(sessionId), keys.sessionState(sessionId)],
      [owner, from, ttlMs],
    );
    if (word === 'taken') return { kind: 'taken', state: JSON.parse(payload.open(String(body))) };
    return { kind: word === 'lost' ? 'lost' : 'absent' };
  };
}
