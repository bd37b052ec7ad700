/** Typed wrapper of save-session.lua. Hot path: once per utterance. */
import type { SavedSession } from '../../../ports/session-store.ts';
import type { RedisConnection } from '../connection/redis-connection.ts';
import { loadScript } from '../connection/script.ts';
import type { Keys } from '../keys.ts';
import type { SealedPayload } from '../sealed-payload.ts';

export function createSaveSession(connection: RedisConnection, keys: Keys, payload: SealedPayload) {
  const run = loadScript(connection, import.meta.url, 'save-session');
  return async (state: SavedSession, owner: string, ttlMs: number): Promise<'saved' | 'lost'> => {
    const { sessionId, revision } = state;
    const [word] = await run(
      [keys.sessionOwner(sessionId), keys.sessionState(sessionId)],
      [owner, revision, payload.seal(JSON.stringify(state)), ttlMs],
    );
    return word === 'lost' ? 'lost' : 'saved';
  };
}
