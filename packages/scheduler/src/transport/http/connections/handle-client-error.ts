/** Answers bytes that are not HTTP with the usual error reply. */
import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { Meter } from '../../../ports/meter.ts';
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

/** Codes of the HTTP parser and of its timeouts. Other errors end the connection: those of TLS have no HTTP yet. */
const OF_HTTP = /^(HPE|ERR_HTTP)_/;

export const createHandleClientError =
  (meter: Pick<Meter, 'count'>) =>
  (error: { code?: string }, socket: Socket): void => {
    const { code = '' } = error;
    if (code === 'ECONNRESET' || socket.destroyed) return;
    const reason = code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 'too_slow' : OF_HTTP.test(code) ? 'not_http' : 'tls';
    meter.count('scheduler_connections_refused_total', { reason });
    if (reason !== 'tls') answer(code, socket);
    socket.destroy();
  };

function answer(code: string, socket: Socket): void {
  const refusal = KNOWN[code] ?? { code: 'INVALID_MESSAGE', detail: 'this is not HTTP' };
  const { status, body } = toErrorReply(refusal);
  const text = JSON.stringify(body);
  if (socket.writable) {
    socket.write(
      `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nConnection: close\r\n` +
        `Content-Type: application/json; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`,
    );
  }
}
