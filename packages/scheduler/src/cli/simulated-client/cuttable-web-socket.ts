/** WebSockets whose connection can be cut as a network does it: without a word. */

import type { WebSocketConstructor } from '@lingua/sdk/client';
import WebSocket from 'ws';

/** Answers the class to open sockets with, and what cuts the one that was opened last. */
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
