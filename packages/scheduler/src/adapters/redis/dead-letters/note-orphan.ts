/** Typed wrapper of note-orphan.lua. Cold path. */
import { MOST_ORPHANED } from '../../../ports/dead-letters.ts';
import type { RedisConnection } from '../connection/redis-connection.ts';
import { loadScript } from '../connection/script.ts';
import type { Keys } from '../keys.ts';

export function createNoteOrphan(connection: RedisConnection, keys: Keys) {
  const run = loadScript(connection, import.meta.url, 'note-orphan');
  return async (instanceId: string, ttlMs: number): Promise<void> => {
    await run([keys.orphanedDeadLetters], [instanceId, ttlMs, MOST_ORPHANED]);
  };
}
