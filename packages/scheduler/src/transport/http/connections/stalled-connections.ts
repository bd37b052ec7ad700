/**
 * Ends HTTP connections without traffic. One periodic check of all of them is cheaper than the server's own timeout,
 * which sets a timer per request and moves it at every read and write.
 */
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { Server as TlsServer } from 'node:tls';
import type { Cancel, Clock } from '../../../ports/clock.ts';

/** Checks per timeout. */
const CHECKS_PER_LIMIT = 6;

interface Activity {
  readonly bytes: number;
  readonly at: number;
}

/** Runs until the server closes. WebSockets have their own liveness check. */
export function closeStalledConnections(server: Server, clock: Clock, silentMs: number): void {
  const connections = new Map<Duplex, Activity>();
  let cancel: Cancel = () => {};

  server.on(server instanceof TlsServer ? 'secureConnection' : 'connection', (socket: Socket) => {
    connections.set(socket, { bytes: 0, at: clock.now() });
    socket.once('close', () => connections.delete(socket));
  });
  onUpgrade(server, (socket) => connections.delete(socket));

  function check(): void {
    const now = clock.now();
    for (const [socket, seen] of connections) {
      const { bytesRead, bytesWritten, writableLength } = socket as Socket;
      const bytes = bytesRead + bytesWritten;
      if (bytes !== seen.bytes) connections.set(socket, { bytes, at: now });
      else if (now - seen.at < silentMs) continue;
      else if (writableLength === 0) socket.destroy();
      else useServerTimeout(socket as Socket);
    }
    cancel = clock.after(silentMs / CHECKS_PER_LIMIT, check);
  }

  /** How much of a long reply the peer has read is unknown here; the server's own timeout knows it. */
  function useServerTimeout(socket: Socket): void {
    connections.delete(socket);
    socket.setTimeout(silentMs);
  }
  check();
  server.once('close', () => cancel());
}

/** Calls `listen` at upgrades, only after another listener was added: the server accepts upgrades as soon as one exists. */
export function onUpgrade(server: Server, listen: (socket: Duplex) => void): void {
  let isAdded = false;
  server.on('newListener', function follow(event) {
    if (event !== 'upgrade' || isAdded) return;
    isAdded = true;
    server.off('newListener', follow);
    server.on('upgrade', (_request, socket) => listen(socket));
  });
}
