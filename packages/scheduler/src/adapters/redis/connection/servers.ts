/** The servers of a connection: the masters of a Cluster, or its single server. */
import { Cluster, Command, type Redis } from 'ioredis';
import type { RedisConnection } from './redis-connection.ts';

export const SLOTS = 16_384;

export const mastersOf = (connection: RedisConnection): readonly Redis[] =>
  connection instanceof Cluster ? connection.nodes('master') : [connection];

/** The address that an operator knows. Behind Sentinels only the socket has it. */
export function addressOfServer(server: Redis): string {
  const { host, port, sentinels } = server.options;
  const { remoteAddress, remotePort } = (server.stream ?? {}) as {
    remoteAddress?: string;
    remotePort?: number;
  };
  if (sentinels !== undefined && remoteAddress !== undefined) return `${remoteAddress}:${remotePort}`;
  return `${host}:${port}`;
}

export const slotOf = (key: string): number => new Command('exists', [key]).getSlot() ?? 0;

/** "name:value" lines of INFO. */
export function fieldsOf(info: string): ReadonlyMap<string, string> {
  const lines = info.split('\r\n').filter((line) => line.includes(':'));
  return new Map(lines.map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1)]));
}

/** The server will refuse this command again: it is forbidden, renamed or missing. */
export const isForbidden = (fault: unknown): boolean =>
  fault instanceof Error &&
  /^NOPERM|^ERR unknown (sub)?command|^ERR .*\bnot (allowed|permitted|available|supported)/i.test(
    fault.message,
  );
