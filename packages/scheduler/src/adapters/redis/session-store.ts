/** Sessions that any instance can continue: owner and state are in the session's own hash slot, each change is one script. */
import type { SessionStore } from '../../ports/session-store.ts';
import type { RedisConnection } from './connection/redis-connection.ts';
import type { Keys } from './keys.ts';
import { PLAIN, type SealedPayload } from './sealed-payload.ts';
import { createLoadSession } from './session-store/load-session.ts';
import { createRemoveSession } from './session-store/remove-session.ts';
import { createSaveSession } from './session-store/save-session.ts';
import { createTakeSession } from './session-store/take-session.ts';
import { createTouchSession } from './session-store/touch-session.ts';

export function createSessionStore(deps: {
  connection: RedisConnection;
  keys: Keys;
  payload?: SealedPayload;
}): SessionStore {
  const { connection, keys, payload = PLAIN } = deps;
  return {
    save: createSaveSession(connection, keys, payload),
    load: createLoadSession(connection, keys, payload),
    take: createTakeSession(connection, keys, payload),
    touch: createTouchSession(connection, keys),
    remove: createRemoveSession(connection, keys),
  };
}
