/**
 * Hot path: commands that are issued in one turn of the event loop leave in one write. A system call per command costs more than
 * most scripts; replies come back together, so what they set off is issued together as well. Order and answers stay as they are.
 *
 * Commands are text, and texts are put together before they are written: handed over one by one, even in one call, each costs
 * several times what its bytes do.
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

/** Past this a write is worth its own call, and one text would only be copied once more. */
const MOST_AT_ONCE = 256 * 1_024;

function gather(stream: Duplex | undefined): void {
  if (stream === undefined) return;
  const write = stream.write.bind(stream) as (...given: unknown[]) => boolean;
  let gathered = '';
  const end = stream.end.bind(stream) as (...given: unknown[]) => Duplex;
  const send = (): void => {
    if (gathered === '') return;
    const text = gathered;
    gathered = '';
    // Whoever waits for its answer is told by the end of the connection.
    if (stream.writable) write(text);
  };
  stream.write = ((...given: unknown[]) => {
    const [text] = given;
    if (given.length > 1 || typeof text !== 'string') {
      send();
      return write(...given);
    }
    if (gathered === '') setImmediate(send);
    gathered += text;
    if (gathered.length > MOST_AT_ONCE) send();
    return !stream.writableNeedDrain;
  }) as typeof stream.write;
  stream.end = ((...given: unknown[]) => {
    send();
    return end(...given);
  }) as typeof stream.end;
}
