/** A WebSocket, reduced to what browsers and `ws` have in common. */

/** The part of a WebSocket that the SDK uses; those of browsers, Node.js 22 and the `ws` package have it. */
export interface WebSocketLike {
  readonly readyState: number;
  readonly bufferedAmount: number;
  onopen: ((event: never) => void) | null;
  onmessage: ((event: never) => void) | null;
  onerror: ((event: never) => void) | null;
  onclose: ((event: never) => void) | null;
  send(text: string): void;
  close(code?: number, reason?: string): void;
}
export type WebSocketConstructor = new (url: string) => WebSocketLike;

export interface Loss {
  /** 1006 if the socket failed or never opened. */
  readonly code: number;
  readonly reason: string;
}

export interface Socket {
  /** False: it is not open, and nothing was sent. */
  send(text: string): boolean;
  bufferedBytes(): number;
  /** Closes the socket and ignores its further events, even if the other side never answers. */
  leave(code: number, reason: string): void;
}

const OPEN = 1;

export function openSocket(
  WebSocket: WebSocketConstructor,
  url: string,
  on: {
    readonly opened: () => void;
    readonly text: (text: string) => void;
    readonly lost: (loss: Loss) => void;
  },
): Socket {
  let isActive = true;
  const socket = new WebSocket(url);
  socket.onopen = () => {
    if (isActive) on.opened();
  };
  socket.onmessage = ({ data }: { data: unknown }) => {
    if (isActive && typeof data === 'string') on.text(data);
  };
  // 'close' always follows and does the rest.
  socket.onerror = () => {};
  socket.onclose = ({ code, reason }: Loss) => {
    if (!isActive) return;
    isActive = false;
    on.lost({ code, reason });
  };
  return {
    send(text) {
      if (!isActive || socket.readyState !== OPEN) return false;
      socket.send(text);
      return true;
    },
    bufferedBytes: () => socket.bufferedAmount,
    leave(code, reason) {
      isActive = false;
      socket.close(code, reason);
    },
  };
}
