/** A connection for reads that wait, which can be replaced when it is stuck. */
import type { CommandCounts } from './command-counts.ts';
import { closeRedis, connectRedis, type RedisConnection, type RedisSettings } from './redis-connection.ts';

export interface BlockingConnection {
  /** The one to use now. Asked for each read, since it may be replaced in between. */
  current(): RedisConnection;
  /** Gives it up with everything that waits on it, which fails, and opens another. */
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
