/** Answers an upgrade request with an HTTP error: clients back off from those, while accept-then-close makes them loop. */
import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import type { ErrorReply } from '@lingua/protocol';
import { type ErrorCode, errorEntry } from '../../domain/errors.ts';

export interface UpgradeRefusal {
  /** For the metric. */
  readonly reason: string;
  readonly code: ErrorCode;
  /** When it differs from the code's own. */
  readonly status?: number;
  readonly message: string;
}

export const RETRY_AFTER_MS = 1_000;

export function refuseUpgrade(socket: Duplex, refusal: UpgradeRefusal): void {
  const { hint, status: usual, isTransient } = errorEntry(refusal.code);
  const status = refusal.status ?? usual;
  const reply: ErrorReply = {
    error: refusal.code,
    detail: refusal.message,
    hint,
    ...(isTransient && { retry_after_ms: RETRY_AFTER_MS }),
  };
  const body = JSON.stringify(reply);
  const headers = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'Connection: close',
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    ...(status === 401 ? ['WWW-Authenticate: Bearer'] : []),
    ...(isTransient ? [`Retry-After: ${RETRY_AFTER_MS / 1_000}`] : []),
  ];
  socket.once('finish', () => socket.destroy());
  socket.end(`${headers.join('\r\n')}\r\n\r\n${body}`);
}
