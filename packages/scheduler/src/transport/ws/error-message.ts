/** The `error` message of a socket as text, with the hint from the error table. */
import type { ErrorMessage } from '@lingua/protocol';
import { WebSocket } from 'ws';
import { type ErrorCode, errorEntry } from '../../domain/errors.ts';

export type ErrorDetails = Readonly<Record<string, unknown>>;

export function errorText(code: ErrorCode, message: string, details: ErrorDetails = {}): string {
  const error: ErrorMessage = {
    type: 'error',
    code,
    message,
    details: { ...details, hint: errorEntry(code).hint },
  };
  return JSON.stringify(error);
}

const MESSAGE_TOO_BIG = 1009;

/**
 * A socket that sends an error before it closes on a message that is too long. The library emits its event only after
 * the close frame, and nothing can be sent after that.
 */
export function errorReportingSocket(maxMessageBytes: number, setting: string): typeof WebSocket {
  const tooLong = errorText(
    'PAYLOAD_TOO_LARGE',
    `the message is longer than the ${maxMessageBytes} bytes that this server accepts (${setting}); send it in parts`,
    { max_message_bytes: maxMessageBytes },
  );
  return class extends WebSocket {
    override close(code?: number, data?: string | Buffer): void {
      if (code === MESSAGE_TOO_BIG && this.readyState === WebSocket.OPEN) this.send(tooLong);
      super.close(code, data);
    }
  };
}
