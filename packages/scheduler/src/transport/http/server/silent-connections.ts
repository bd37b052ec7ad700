/**
 * Ends HTTP connections on which nothing has moved for too long. One look at all of them now and then: with the server's own timeout every
 * request makes a timer, and every read and write moves it.
 */
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Cancel, Clock } from '../../../ports/clock.ts';

/** Within a silence that is too long, so many looks. */
const LOOKS = 6;

interface Seen {
  readonly bytes: number;
  readonly at: number;
}

/** Until the server closes. What became a WebSocket has its own watch. */
export function cutSilentConnections(server: Server, clock: Clock, silentMs: number): void {
  const connections = new Map<Duplex, Seen>();
  let cancel: Cancel = () => {};

  server.on('connection', (socket: Socket) => {
    connections.set(socket, { bytes: 0, at: clock.now() });
    socket.once('close', () => connections.delete(socket));
  });
  const forget = (_request: unknown, socket: Duplex): void => {
    connections.delete(socket);
  };
  // Not before somebody else does: whether anybody listens is how the server knows whether it can be upgraded.
  server.on('newListener', function follow(event) {
    if (event !== 'upgrade') return;
    server.off('newListener', follow);
    server.on('upgrade', forget);
  });

  function look(): void {
    const now = clock.now();
    for (const [socket, seen] of connections) {
      const { bytesRead, bytesWritten, writableLength } = socket as Socket;
      const bytes = bytesRead + bytesWritten;
      if (bytes !== seen.bytes) connections.set(socket, { bytes, at: now });
      else if (now - seen.at < silentMs) continue;
      else if (writableLength === 0) socket.destroy();
      else leaveToServer(socket as Socket);
    }
    cancel = clock.after(silentMs / LOOKS, look);
  }

  /** How much of a long answer the peer has taken is not known here. The server's own timeout looks at that. */
  function leaveToServer(socket: Socket): void {
    connections.delete(socket);
    socket.setTimeout(silentMs);
  }
  look();
  server.once('close', () => cancel());
}
