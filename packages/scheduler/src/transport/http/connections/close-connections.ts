/** Ends the connections of a closing server when their requests are answered, and all of them after a grace period. */
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Cancel, Clock } from '../../../ports/clock.ts';

const SWEEP_MS = 20;
/** A request may be on its way over a connection that was just opened. */
const SILENCE_MS = 200;

/** Returns a function that starts closing; that one returns a function that cancels it. */
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
      // Connections that were busy become idle later, and would stay open for the keep-alive timeout.
      server.closeIdleConnections();
      // The server does not count a connection without any request as idle, and no timeout applies to it while
      // closing.
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
