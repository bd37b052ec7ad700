/** Sessions that any instance can continue: owner and state are in the session's own hash slot, each change is one script. */
import type { SessionStore } from '../../ports/session-store.ts';
import type { RedisConnection } from './connection/redis-connection.ts';
import type { Keys } from './keys.ts';
import { createLoadSession } from './session-store/load-session.ts';
import { createRemoveSession } from './session-store/remove-session.ts';
import { createSaveSession } from './session-store/save-session.ts';
import { createTakeSession } from './session-store/take-session.ts';
import { createTouchSession } from './session-store/touch-session.ts';

export function createSessionStore(deps: { connection: RedisConnection; keys: Keys }): SessionStore {
  const { connection, keys } = deps;
  return {
    save: createSaveSession(connection, keys),
    load: createLoadSession(connection, keys),
    take: createTakeSession(connection, keys),
    touch: createTouchSession(connection, keys),
    remove: createRemoveSession(connection, keys),
  };
}
