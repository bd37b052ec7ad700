/** Ends the connections of a closing server as soon as their requests are answered, and all of them after a while. */
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Cancel, Clock } from '../../../ports/clock.ts';

const SWEEP_MS = 20;
/** A request may be on its way to a connection that has just been opened. */
const SILENCE_MS = 200;

/** Returns what starts the closing; that returns what stops it again. */
export function createConnectionCloser(server: Server, clock: Clock): (graceMs: number) => Cancel {
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });

  return (graceMs) => {
    const silentUntil = clock.now() + SILENCE_MS;
    let cancelSweep: Cancel = () => {};
    const sweep = () => {
      // Those that were busy when closing began become idle one by one, and would stay open as long as idle ones may.
      server.closeIdleConnections();
      // To the server a connection without any request yet is not idle, and nothing limits it once closing has begun.
      if (clock.now() >= silentUntil) {
        for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy();
      }
      cancelSweep = clock.after(SWEEP_MS, sweep);
    };
    const cancelEnd = clock.after(graceMs, () => server.closeAllConnections());
    sweep();
    return () => {
      cancelSweep();
      cancelEnd();
    };
  };
}
