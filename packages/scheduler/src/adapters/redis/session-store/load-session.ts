/** Typed wrapper of load-session.lua. Cold path. */
import type { SessionId } from '../../../domain/ids.ts';
import type { StoredSession } from '../../../ports/session-store.ts';
import type { RedisConnection } from '../connection/redis-connection.ts';
import { loadScript } from '../connection/script.ts';
import type { Keys } from '../keys.ts';
import type { SealedPayload } from '../sealed-payload.ts';

export function createLoadSession(connection: RedisConnection, keys: Keys, payload: SealedPayload) {
  const run = loadScript(connection, import.meta.url, 'load-session');
  return async (sessionId: SessionId): Promise<StoredSession | undefined> => {
    const [word, owner, body] = await run([keys.sessionOwner(sessionId), keys.sessionState(sessionId)], []);
    return word === 'found'
      ? { owner: String(owner), state: JSON.parse(payload.open(String(body))) }
      : undefined;
  };
}
