/** A socket that says why before it closes on a message that is too long. */
import { WebSocket } from 'ws';
import { errorText } from './error-text.ts';

const MESSAGE_TOO_BIG = 1009;

const TOO_LARGE = errorText('PAYLOAD_TOO_LARGE', 'the message is longer than this server takes');

/** The library closes such a socket before it tells anybody, and after the close frame nothing can be sent. */
export class TellingWebSocket extends WebSocket {
  override close(code?: number, data?: string | Buffer): void {
    if (code === MESSAGE_TOO_BIG && this.readyState === WebSocket.OPEN) this.send(TOO_LARGE);
    super.close(code, data);
  }
}
