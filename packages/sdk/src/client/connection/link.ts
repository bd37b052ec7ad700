/** A session's connection: sends session_init after every connect, and reconnects after every loss. */

import type { Cancel, SessionClock } from '../clock.ts';
import { asCount, asText, readFrame, type ServerFrame } from '../read-frame.ts';
import type { Outgoing, Resume } from '../session-messages.ts';
import type { SessionTimings } from '../session-options.ts';
import { nextTry, SERVICE_RESTART } from './backoff.ts';
import { type Fetch, findCause } from './find-cause.ts';
import { createKeepAlive } from './keep-alive.ts';
import { type Loss, openSocket, type Socket, type WebSocketConstructor } from './socket.ts';

export interface Link {
  open(): void;
  /** False: the session is not open, and nothing was sent. */
  send(message: Outgoing): boolean;
  sendText(text: string): boolean;
  /** The scheduler closes the connection on a longer message; Infinity: it did not say. */
  maxMessageBytes(): number;
  isOpen(): boolean;
  /** The id of the open session, or of the last one. */
  sessionId(): string | undefined;
  bufferedBytes(): number;
  /** Permanently. */
  end(reason: string): void;
}

export interface LinkDeps {
  readonly url: string;
  /** Called before every connect: the url with a fresh token. Absent: `url` as it is. */
  readonly freshUrl?: (() => Promise<string>) | undefined;
  readonly WebSocket: WebSocketConstructor;
  /** Absent: the reason of a refused connection stays unknown. */
  readonly fetch: Fetch | undefined;
  readonly clock: SessionClock;
  readonly chance: () => number;
  readonly timings: SessionTimings;
  readonly buildFirstMessage: (resume: Resume | undefined) => Outgoing;
  /** `frame`: session_init_ack. */
  readonly onOpened: (sessionId: string, isResumed: boolean, hasMoved: boolean, frame: ServerFrame) => void;
  /** Receives every frame that the link does not handle itself. Before the session is open, only errors. */
  readonly onFrame: (frame: ServerFrame) => void;
  readonly onDraining: (reconnectAfterMs: number) => void;
  readonly onLost: (loss: Loss) => void;
  readonly onRetry: (attempt: number, delayMs: number) => void;
  /** The scheduler refuses this session permanently; the link has ended. */
  readonly onRefused: (frame: ServerFrame) => void;
}

/** Errors after session_init that would occur again at every retry. */
const UNRECOVERABLE = new Set(['UNAUTHORIZED', 'FORBIDDEN', 'INVALID_MESSAGE']);
/** Errors after which the session cannot be resumed. */
const NOT_RESUMABLE = new Set(['INVALID_SESSION', 'SESSION_CLOSED']);
/** The scheduler never accepts a message of this length. */
const MESSAGE_TOO_BIG = 1009;
const LONGEST_DRAIN_MS = 60_000;
/** Spreads the reconnects of one instance's sessions. */
const DRAIN_JITTER_MS = 1_000;
/** Closed by this side; browsers allow only codes from 4000. */
const CUT = 4000;

export function createLink(deps: LinkDeps): Link {
  const { clock, timings } = deps;
  let socket: Socket | undefined;
  let sessionId: string | undefined;
  let resume: Resume | undefined;
  let openedAt: number | undefined;
  let failures = 0;
  let drainAt: number | undefined;
  let isEnded = false;
  let hasBeenOpen = false;
  let maxMessageBytes = Number.POSITIVE_INFINITY;
  let connects = 0;
  /** The only pending timer apart from the keep-alive's: opening timeout, next try, or move to another instance. */
  let cancelOpening: Cancel | undefined;
  let cancelRetry: Cancel | undefined;
  let cancelMove: Cancel | undefined;

  const keepAlive = createKeepAlive({
    clock,
    heartbeatMs: timings.heartbeatMs,
    silenceMs: timings.silenceMs,
    beat: () => send({ type: 'client_heartbeat', session_id: sessionId ?? '', timestamp: clock.now() }),
    onDead: () => cut('the scheduler is silent'),
  });

  function connect(): void {
    connects += 1;
    cancelOpening = clock.after(timings.openTimeoutMs, () => cut('the scheduler does not answer'));
    if (deps.freshUrl === undefined) dial(deps.url);
    else void dialWithToken(deps.freshUrl, connects);
  }

  /** A connect that was given up meanwhile does nothing. */
  async function dialWithToken(freshUrl: () => Promise<string>, connectNumber: number): Promise<void> {
    const isOver = (): boolean => isEnded || connectNumber !== connects || cancelRetry !== undefined;
    try {
      const url = await freshUrl();
      if (!isOver()) dial(url);
    } catch (error) {
      if (!isOver()) lost({ code: 1006, reason: `there is no token: ${String(error)}` });
    }
  }

  function dial(url: string): void {
    let isConnected = false;
    socket = openSocket(deps.WebSocket, url, {
      opened: () => {
        isConnected = true;
        socket?.send(JSON.stringify(deps.buildFirstMessage(resume)));
      },
      text: receive,
      lost: (loss) => {
        if (isConnected || deps.fetch === undefined) lost(loss);
        else void failedToConnect(loss, deps.fetch, url);
      },
    });
  }

  async function failedToConnect(loss: Loss, fetch: Fetch, url: string): Promise<void> {
    stopAll();
    const cause = await findCause(fetch, url, clock);
    if (isEnded) return;
    if (cause.kind === 'lost') lost({ code: loss.code, reason: cause.reason });
    // A path that was right once may be wrong while a proxy is reconfigured.
    else if (hasBeenOpen && cause.code === 'NOT_FOUND') lost({ code: loss.code, reason: cause.message });
    else {
      const { code, message, hint } = cause;
      refused({ type: 'error', code, message, details: { hint } });
    }
  }

  const sendText = (text: string): boolean => openedAt !== undefined && socket?.send(text) === true;

  function send(message: Outgoing): boolean {
    return sendText(JSON.stringify(message));
  }

  function receive(text: string): void {
    keepAlive.received();
    const frame = readFrame(text);
    if (frame === undefined) return;
    if (openedAt === undefined) answered(frame);
    else if (frame.type === 'server_draining') drain(asCount(frame.reconnect_after_ms) ?? 0);
    else if (frame.type !== 'session_init_ack') {
      deps.onFrame(frame);
      if (frame.type === 'error' && NOT_RESUMABLE.has(asText(frame.code) ?? '')) onSessionGone();
    }
  }

  /** The connection is open, but the scheduler does not have its session. */
  function onSessionGone(): void {
    if (openedAt === undefined) return;
    resume = undefined;
    cut('the session is gone');
  }

  function answered(frame: ServerFrame): void {
    const given = asText(frame.session_id);
    if (frame.type === 'session_init_ack' && given !== undefined) acknowledged(given, frame);
    else if (frame.type === 'error') {
      const code = asText(frame.code) ?? '';
      if (NOT_RESUMABLE.has(code)) resume = undefined;
      if (UNRECOVERABLE.has(code)) refused(frame);
      else deps.onFrame(frame);
    }
  }

  function acknowledged(given: string, frame: ServerFrame): void {
    cancelOpening?.();
    const isResumed = frame.resumed === true && given === resume?.sessionId;
    const token = asText(frame.resume_token) ?? (isResumed ? resume?.token : undefined);
    sessionId = given;
    resume = token === undefined ? undefined : { sessionId: given, token };
    maxMessageBytes = asCount(frame.max_message_bytes) ?? Number.POSITIVE_INFINITY;
    openedAt = clock.now();
    hasBeenOpen = true;
    keepAlive.start();
    deps.onOpened(given, isResumed, isResumed && frame.moved === true, frame);
  }

  function refused(frame: ServerFrame): void {
    end('refused');
    deps.onRefused(frame);
  }

  function drain(afterMs: number): void {
    const delayMs = Math.min(afterMs, LONGEST_DRAIN_MS) + Math.floor(deps.chance() * DRAIN_JITTER_MS);
    cancelMove?.();
    drainAt = clock.now() + delayMs;
    cancelMove = clock.after(delayMs, () => {
      socket?.leave(1000, 'server_draining');
      lost({ code: SERVICE_RESTART, reason: 'server_draining' });
    });
    deps.onDraining(afterMs);
  }

  /** Does not wait for the scheduler's close frame: the scheduler may be gone. */
  function cut(reason: string): void {
    socket?.leave(CUT, reason);
    lost({ code: CUT, reason });
  }

  function lost(loss: Loss): void {
    const now = clock.now();
    const openMs = openedAt === undefined ? 0 : now - openedAt;
    const drainMs = Math.max(0, (drainAt ?? now) - now);
    stopAll();
    if (loss.code === MESSAGE_TOO_BIG) {
      refused({
        type: 'error',
        code: 'PAYLOAD_TOO_LARGE',
        message: 'the scheduler rejects a message as too long',
      });
      return;
    }
    deps.onLost(loss);
    if (isEnded) return;
    const next = nextTry(failures, { code: loss.code, openMs }, deps.chance(), timings);
    failures = next.failures;
    const delayMs = Math.max(next.delayMs, drainMs);
    cancelRetry = clock.after(delayMs, retry);
    deps.onRetry(failures, delayMs);
  }

  function retry(): void {
    cancelRetry = undefined;
    try {
      connect();
    } catch (error) {
      lost({ code: 1006, reason: String(error) });
    }
  }

  /** Closes the socket and cancels all timers. */
  function stopAll(): void {
    cancelOpening?.();
    cancelMove?.();
    cancelRetry?.();
    keepAlive.stop();
    drainAt = undefined;
    openedAt = undefined;
    socket = undefined;
  }

  function end(reason: string): void {
    if (isEnded) return;
    isEnded = true;
    socket?.leave(1000, reason);
    stopAll();
  }

  return {
    // Not caught: if the first connect throws, the URL is invalid or the page does not allow it.
    open: connect,
    send,
    sendText,
    maxMessageBytes: () => maxMessageBytes,
    isOpen: () => openedAt !== undefined,
    sessionId: () => sessionId,
    bufferedBytes: () => socket?.bufferedBytes() ?? 0,
    end,
  };
}
