/** A WebSocket that reconnects after every loss, as long as the retry policy returns a delay. */
import type { Socket } from 'node:net';
import WebSocket from 'ws';
import type { NodeOptions } from '../node-options.ts';
import { createLiveness } from './liveness.ts';
import { readUpgradeRefusal, type UpgradeRefusal } from './refusal.ts';

export interface ConnectionLoss {
  /** 1006 if the socket failed or never opened. */
  readonly code: number;
  readonly reason: string;
}

export interface ConnectionOptions {
  readonly url: string;
  readonly token?: string | undefined;
  readonly tls?: NodeOptions['tls'];
  readonly connectTimeoutMs?: number;
  /** After two intervals without any traffic the socket is considered dead. */
  readonly pingIntervalMs?: number;
  /** A longer message from the server closes the socket. */
  readonly maxMessageBytes?: number;
  /** Undefined: stop trying. */
  readonly retryDelayMs: (loss: ConnectionLoss) => number | undefined;
  readonly onOpen: () => void;
  readonly onText: (text: string) => void;
  /** Not called when this side closed the connection permanently. */
  readonly onLost?: (loss: ConnectionLoss) => void;
  /** The answer to a ping: the other side has read everything sent before it. */
  readonly onPong?: (data: string) => void;
  /** The server answered, but with something else than a WebSocket; a loss follows unless this closes the connection. */
  readonly onRefused?: (refusal: UpgradeRefusal) => void;
  /** An error of the socket; a loss follows. */
  readonly onError?: (error: Error) => void;
}

export interface Connection {
  open(): void;
  /** False: there is no open socket, and nothing was sent. */
  send(text: string): boolean;
  ping(data: string): void;
  bufferedBytes(): number;
  /** Drops the socket without a close frame; the retry policy decides what follows. */
  cut(): void;
  /** Sends a close frame; the retry policy decides what follows. */
  leave(code: number, reason: string): void;
  /** Ends the connection permanently. */
  close(code?: number, reason?: string): Promise<void>;
}

export function createConnection(options: ConnectionOptions): Connection {
  const { connectTimeoutMs = 10_000, pingIntervalMs = 10_000, maxMessageBytes = 64 * 1024 * 1024 } = options;
  let socket: WebSocket | undefined;
  let retry: NodeJS.Timeout | undefined;
  let isClosed = false;

  function connect(): void {
    const opened = new WebSocket(options.url, {
      // Compression costs ten times the memory per connection, and audio does not compress.
      perMessageDeflate: false,
      handshakeTimeout: connectTimeoutMs,
      maxPayload: maxMessageBytes,
      ...options.tls,
      ...(options.token === undefined ? {} : { headers: { authorization: `Bearer ${options.token}` } }),
    });
    socket = opened;
    let stream: Socket | undefined;
    const liveness = createLiveness({
      intervalMs: pingIntervalMs,
      bytesRead: () => stream?.bytesRead ?? 0,
      ping: () => opened.ping(),
      onDead: () => opened.terminate(),
    });
    let isRefused = false;
    opened.on('unexpected-response', async (_request, response) => {
      const refusal = await readUpgradeRefusal(options.url, response);
      isRefused = true;
      if (!isClosed) options.onRefused?.(refusal);
      opened.terminate();
    });
    opened.on('upgrade', (response) => {
      stream = response.socket;
    });
    opened.on('open', () => {
      liveness.start();
      options.onOpen();
    });
    opened.on('message', (data, isBinary) => {
      if (!isBinary && socket === opened) options.onText(data.toString());
    });
    opened.on('pong', (data) => options.onPong?.(data.toString()));
    // 'close' always follows and does the rest.
    opened.on('error', (error) => {
      if (!isClosed && !isRefused) options.onError?.(error);
    });
    opened.on('close', (code, reason) => {
      liveness.stop();
      if (socket !== opened) return;
      socket = undefined;
      if (!isClosed) lost({ code, reason: reason.toString() });
    });
  }

  function lost(loss: ConnectionLoss): void {
    options.onLost?.(loss);
    if (isClosed) return;
    const delayMs = options.retryDelayMs(loss);
    if (delayMs === undefined) isClosed = true;
    else retry = setTimeout(connect, delayMs);
  }

  return {
    open() {
      if (socket === undefined && retry === undefined && !isClosed) connect();
    },
    send(text) {
      if (socket?.readyState !== WebSocket.OPEN) return false;
      // A failed write breaks the socket, which 'close' reports.
      socket.send(text, () => {});
      return true;
    },
    ping(data) {
      if (socket?.readyState === WebSocket.OPEN) socket.ping(data);
    },
    bufferedBytes: () => socket?.bufferedAmount ?? 0,
    cut: () => socket?.terminate(),
    leave(code, reason) {
      if (socket !== undefined) end(socket, code, reason);
    },
    close(code = 1000, reason = '') {
      isClosed = true;
      clearTimeout(retry);
      const closing = socket;
      if (closing === undefined) return Promise.resolve();
      return new Promise((resolve) => {
        closing.once('close', () => resolve());
        end(closing, code, reason);
      });
    },
  };
}

/** How long the other side may take to answer the close frame. */
const CLOSE_TIMEOUT_MS = 1_000;

function end(socket: WebSocket, code: number, reason: string): void {
  socket.close(code, reason);
  const timer = setTimeout(() => socket.terminate(), CLOSE_TIMEOUT_MS);
  socket.once('close', () => clearTimeout(timer));
}
