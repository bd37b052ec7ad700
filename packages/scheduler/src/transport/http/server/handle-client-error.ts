/** Answers bytes that are not HTTP with the usual error reply. */
import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { type Refusal, toErrorReply } from '../../wire/error-reply.ts';

const KNOWN: Readonly<Record<string, Refusal>> = {
  ERR_HTTP_REQUEST_TIMEOUT: {
    code: 'INVALID_MESSAGE',
    status: 408,
    detail: 'the request took too long to arrive',
    hint: 'Send requests faster; server.request_timeout_ms and server.headers_timeout_ms are the limits.',
  },
  HPE_HEADER_OVERFLOW: { code: 'PAYLOAD_TOO_LARGE', status: 431, detail: 'the headers are too large' },
};

export function handleClientError(error: { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || socket.destroyed) return;
  const refusal = KNOWN[error.code ?? ''] ?? { code: 'INVALID_MESSAGE', detail: 'this is not HTTP' };
  const { status, body } = toErrorReply(refusal);
  const text = JSON.stringify(body);
  if (socket.writable) {
    socket.write(
      `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nConnection: close\r\n` +
        `Content-Type: application/json; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`,
    );
  }
  socket.destroy();
}
