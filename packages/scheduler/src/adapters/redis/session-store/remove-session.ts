/** Typed wrapper of remove-session.lua. Cold path. */
import type { SessionId } from '../../../domain/ids.ts';
import type { RedisConnection } from '../connection/redis-connection.ts';
import { loadScript } from '../connection/script.ts';
import type { Keys } from '../keys.ts';

export function createRemoveSession(connection: RedisConnection, keys: Keys) {
  const run = loadScript(connection, import.meta.url, 'remove-session');
  return async (sessionId: SessionId, owner: string): Promise<'removed' | 'lost'> => {
    const [word] = await run([keys.sessionOwner(sessionId), keys.sessionState(sessionId)], [owner]);
    return word === 'lost' ? 'lost' : 'removed';
  };
}
