/** Ends connections whose client sends request after request without waiting for the answers (pipelining). */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Meter } from '../../../ports/meter.ts';

/** Common clients send one request at a time; proxies and load tests pipeline a few. */
const MAX_UNANSWERED = 128;

export function limitPipelining(server: Server, meter: Pick<Meter, 'count'>): void {
  const unanswered = new WeakMap<Socket, number>();
  server.prependListener('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    const count = (unanswered.get(socket) ?? 0) + 1;
    unanswered.set(socket, count);
    response.once('close', () => unanswered.set(socket, (unanswered.get(socket) ?? 1) - 1));
    if (count <= MAX_UNANSWERED || socket.destroyed) return;
    meter.count('scheduler_connections_refused_total', { reason: 'pipelined' });
    socket.destroy();
  });
}
