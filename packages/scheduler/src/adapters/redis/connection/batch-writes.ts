/**
 * Hot path: commands that are issued in one turn of the event loop are sent in one write. A system call per command costs more than
 * most scripts. Replies arrive together, so the commands that follow from them are also issued together. Order and answers do not
 * change.
 *
 * The texts of the commands are joined before the write: as separate chunks, even in one call, they would cost several times as much.
 */
import type { Duplex } from 'node:stream';
import { Cluster, type Redis } from 'ioredis';
import type { RedisConnection } from './redis-connection.ts';

export function batchWrites(connection: RedisConnection): void {
  if (!(connection instanceof Cluster)) {
    gatherOnConnect(connection);
    return;
  }
  for (const server of connection.nodes('all')) gatherOnConnect(server);
  connection.on('+node', gatherOnConnect);
}

/** Every new connection has a new stream. */
function gatherOnConnect(server: Redis): void {
  server.on('connect', () => gather((server as unknown as { stream?: Duplex }).stream));
}

/** A larger write is worth its own system call, and joining it would only copy the text once more. */
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
    // If the stream is closed, the end of the connection rejects the commands.
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
