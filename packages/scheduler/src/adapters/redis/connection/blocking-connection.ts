/** A connection for blocking reads, which can be replaced when it is stuck. */
import type { CommandCounts } from './command-counts.ts';
import { closeRedis, connectRedis, type RedisConnection, type RedisSettings } from './redis-connection.ts';

export interface BlockingConnection {
  /** The current connection. Call it for each read, because the connection may be replaced in between. */
  current(): RedisConnection;
  /** Closes the connection, so that its waiting reads fail, and opens another. */
  reconnect(): void;
  close(): void;
}

export function openBlockingConnection(
  settings: RedisSettings,
  role: { readonly name: string; readonly longestWaitMs: number },
  counts?: CommandCounts,
): BlockingConnection {
  const open = (): RedisConnection => connectRedis(settings, { ...role, isBlocking: true }, counts);
  let current = open();
  let isClosed = false;
  return {
    current: () => current,
    reconnect() {
      if (isClosed) return;
      const stuck = current;
      current = open();
      closeRedis(stuck);
    },
    close() {
      isClosed = true;
      closeRedis(current);
    },
  };
}
