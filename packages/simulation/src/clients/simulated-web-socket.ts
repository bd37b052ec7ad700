/** Simulation: a WebSocket as browsers have it, over the simulated network. */
import type { WebSocketLike } from '@lingua/sdk/client';
import type { Machine } from '../../../scheduler/dist/plan/kernel/machine.js';
import { BROKEN, type WireEnd } from '../net/wire.ts';

const CONNECTING = 0;
const OPEN = 1;
const CLOSING = 2;
const CLOSED = 3;

export function simulatedWebSocket(deps: {
  readonly machine: Machine;
  readonly dial: (machine: Machine, opened: (end?: WireEnd) => void) => void;
  /** Called with each message and the instance that sent it, while a listener is set. */
  readonly overhear: (text: string, from: string) => void;
}): new (
  url: string,
) => WebSocketLike {
  return class SimulatedWebSocket implements WebSocketLike {
    readyState: number = CONNECTING;
    readonly bufferedAmount = 0;
    onopen: WebSocketLike['onopen'] = null;
    onmessage: WebSocketLike['onmessage'] = null;
    onerror: WebSocketLike['onerror'] = null;
    onclose: WebSocketLike['onclose'] = null;
    private end: WireEnd | undefined;

    constructor() {
      deps.dial(deps.machine, (end) => this.opened(end));
    }

    private opened(end: WireEnd | undefined): void {
      if (this.readyState !== CONNECTING) {
        end?.close(1000, 'left');
        return;
      }
      if (end === undefined) {
        this.closed(BROKEN, 'no server is there');
        return;
      }
      this.end = end;
      this.readyState = OPEN;
      end.listen({
        text: (text) => {
          if (this.readyState !== OPEN) return;
          deps.overhear(text, end.peer.name);
          this.onmessage?.({ data: text } as never);
        },
        closed: (code, reason) => this.closed(code, reason),
      });
      this.onopen?.({} as never);
    }

    private closed(code: number, reason: string): void {
      if (this.readyState === CLOSED) return;
      this.readyState = CLOSED;
      this.onclose?.({ code, reason } as never);
    }

    send(text: string): void {
      this.end?.send(text);
    }

    close(code = 1000, reason = ''): void {
      if (this.readyState === CLOSED || this.readyState === CLOSING) return;
      this.readyState = CLOSING;
      this.end?.close(code, reason);
    }
  };
}
