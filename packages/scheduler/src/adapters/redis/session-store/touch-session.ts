/** Typed wrapper of touch-session.lua, for many sessions at once. Cold path. */
import type { SavedSession, SessionStore } from '../../../ports/session-store.ts';
import type { RedisConnection } from '../connection/redis-connection.ts';
import { runForMany } from '../connection/run-for-many.ts';
import { loadScript } from '../connection/script.ts';
import type { Keys } from '../keys.ts';

export function createTouchSession(connection: RedisConnection, keys: Keys): SessionStore['touch'] {
  const run = loadScript(connection, import.meta.url, 'touch-session');
  return async (sessions, owner, ttlMs) => {
    const replies = await runForMany(
      connection,
      run,
      sessions.map(({ sessionId, revision }: Pick<SavedSession, 'sessionId' | 'revision'>) => ({
        keys: [keys.sessionOwner(sessionId), keys.sessionState(sessionId)],
        args: [owner, revision, ttlMs],
      })),
    );
    const those = (word: string) =>
      sessions.filter((_, at) => replies[at]?.[0] === word).map(({ sessionId }) => sessionId);
    return { lost: those('lost'), stale: those('stale') };
  };
}
