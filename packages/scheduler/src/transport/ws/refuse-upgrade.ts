/**
 * Answers an upgrade request with an HTTP error: clients back off from one, but reconnect in a loop when a socket is
 * accepted and then closed.
 */
import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { type Refusal, toErrorReply } from '../wire/error-reply.ts';

export function refuseUpgrade(socket: Duplex, refusal: Refusal): void {
  const { status, headers, body } = toErrorReply(refusal);
  const text = JSON.stringify(body);
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'connection: close',
    'content-type: application/json; charset=utf-8',
    `content-length: ${Buffer.byteLength(text)}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
  ];
  socket.once('finish', () => socket.destroy());
  socket.end(`${head.join('\r\n')}\r\n\r\n${text}`);
}
