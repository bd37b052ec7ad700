/**
 * Hot path: sends a short ASCII JSON text as the reply, in one write. The framework makes two writes, head with body
 * and an empty end, which the socket must gather.
 */
import type { FastifyReply } from 'fastify';

const JSON_TYPE = 'application/json; charset=utf-8';

/** Only for replies without headers from hooks. */
export function sendText(reply: FastifyReply, text: string): void {
  const { raw } = reply;
  const { socket } = raw;
  // A reply behind another one on the same connection has no socket yet.
  if (socket === null) {
    reply.header('content-type', JSON_TYPE).send(text);
    return;
  }
  reply.hijack();
  raw.writeHead(200, ['content-type', JSON_TYPE, 'content-length', String(text.length)]);
  // Corked until head and body are written; otherwise Node flushes them in a later turn, after the end.
  socket.cork();
  raw.write(text, 'latin1');
  socket.uncork();
  raw.end();
}
