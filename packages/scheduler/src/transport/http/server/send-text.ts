/**
 * Hot path: sends a short JSON text, of ASCII, as the answer to a request, in one write. The framework's way ends in two, head and body and then
 * nothing, which the socket has to gather.
 */
import type { FastifyReply } from 'fastify';

const JSON_TYPE = 'application/json; charset=utf-8';

/** Only where no hook has given the reply headers of its own. */
export function sendText(reply: FastifyReply, text: string): void {
  const { raw } = reply;
  const { socket } = raw;
  // Behind another answer on the same connection there is no socket yet.
  if (socket === null) {
    reply.header('content-type', JSON_TYPE).send(text);
    return;
  }
  reply.hijack();
  raw.writeHead(200, ['content-type', JSON_TYPE, 'content-length', String(text.length)]);
  // Held back until head and body are together; otherwise that would be left to a later turn, behind the end.
  socket.cork();
  raw.write(text, 'latin1');
  socket.uncork();
  raw.end();
}
