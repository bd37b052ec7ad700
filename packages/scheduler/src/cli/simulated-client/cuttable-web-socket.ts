/** WebSockets whose connection can be cut without a close message, like a network failure. */

import type { WebSocketConstructor } from '@lingua/sdk/client';
import WebSocket from 'ws';

/** Returns the class that opens sockets, and a function that cuts the last opened one. */
export function createCuttableWebSocket(): { WebSocket: WebSocketConstructor; cut: () => void } {
  let last: WebSocket | undefined;
  class Cuttable extends WebSocket {
    constructor(url: string) {
      super(url);
      last = this;
    }
  }
  return { WebSocket: Cuttable as unknown as WebSocketConstructor, cut: () => last?.terminate() };
}
