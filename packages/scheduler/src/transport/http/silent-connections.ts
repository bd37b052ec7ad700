/**
 * Ends HTTP connections on which nothing has moved for too long. One look at all of them now and then: with the server's own timeout every
 * request makes a timer, and every read and write moves it.
 */
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Cancel, Clock } from '../../ports/clock.ts';

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
      const bytes = movedOn(socket as Socket);
      if (bytes !== seen.bytes) connections.set(socket, { bytes, at: now });
      else if (now - seen.at >= silentMs) socket.destroy();
    }
    cancel = clock.after(silentMs / LOOKS, look);
  }
  look();
  server.once('close', () => cancel());
}

/** What is written but not yet taken by the peer does not count: whoever reads nothing is silent. */
const movedOn = (socket: Socket): number => socket.bytesRead + socket.bytesWritten - socket.writableLength;
