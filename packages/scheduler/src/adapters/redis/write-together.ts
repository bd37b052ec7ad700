/**
 * Hot path: commands that are issued in one turn of the event loop leave in one write. A system call per command costs more than
 * most scripts; replies come back together, so what they set off is issued together as well. Order and answers stay as they are.
 */
import type { Duplex } from 'node:stream';
import { Cluster, type Redis } from 'ioredis';
import type { RedisConnection } from './redis-connection.ts';

export function writeTogether(connection: RedisConnection): void {
  if (!(connection instanceof Cluster)) {
    gatherOnConnect(connection);
    return;
  }
  for (const server of connection.nodes('all')) gatherOnConnect(server);
  connection.on('+node', gatherOnConnect);
}

/** Each connection has a stream of its own. */
function gatherOnConnect(server: Redis): void {
  server.on('connect', () => gather((server as unknown as { stream?: Duplex }).stream));
}

function gather(stream: Duplex | undefined): void {
  if (stream === undefined) return;
  const write = stream.write.bind(stream) as (...given: unknown[]) => boolean;
  let isGathering = false;
  const send = (): void => {
    isGathering = false;
    stream.uncork();
  };
  stream.write = ((...given: unknown[]) => {
    if (!isGathering) {
      isGathering = true;
      stream.cork();
      setImmediate(send);
    }
    return write(...given);
  }) as typeof stream.write;
}
