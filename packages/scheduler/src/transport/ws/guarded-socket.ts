/** One accepted socket within its limits: rate, size, order, invalid messages, slow readers, dead peers. For nodes and sessions. */
import type { Problem } from '@lingua/protocol';
import { WebSocket } from 'ws';
import { type ErrorCode, SchedulerError } from '../../domain/errors.ts';
import type { Cancel, Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import type { Meter } from '../../ports/meter.ts';
import type { SlowWatch } from '../../ports/slow-watch.ts';
import { createTokenBucket } from '../access/token-bucket.ts';
import { CUT_CODES, type CutReason } from './cut-reasons.ts';
import { type ErrorDetails, errorText } from './error-text.ts';
import { createInOrder } from './in-order.ts';
import { watchLiveness } from './liveness.ts';
import { createMessageAllowance } from './message-allowance.ts';

export interface GuardSettings {
  readonly pingIntervalMs: number;
  /** Invalid messages before the socket is closed; one is forgiven every ten seconds. */
  readonly maxInvalidMessages: number;
  /** Unsent bytes before the reader counts as too slow. One message may exceed it, or a long one could never be sent. */
  readonly maxBufferedBytes: number;
  /** Messages over the rate, with no quiet second between them, before the socket is closed. */
  readonly maxDroppedMessages: number;
  /** Messages, and bytes of them, that wait for their turn before reading stops. */
  readonly maxWaitingMessages: number;
  readonly maxWaitingBytes: number;
  /** How long a peer may take to answer our close. */
  readonly closeTimeoutMs: number;
}

export interface GuardedSocket {
  /** False: not open any more, or too slow and closed for it. */
  send(text: string): boolean;
  sendError(code: ErrorCode, message: string, details?: ErrorDetails): void;
  /** Tells what is wrong with a message, and counts it. */
  reject(problem: Problem): void;
  /** Closes for a reason; what arrives after it is not listened to, what waits for its turn still is. */
  cut(reason: CutReason): void;
}

/** What a kind of socket does with its messages. */
export interface SocketHandler {
  /** The next message is given when this one is done. */
  receive(text: string): Promise<void> | void;
  /** The connection is gone; messages may still be waiting for their turn. */
  left(): void;
  /** The last message is done. */
  ended(): Promise<void> | void;
  /** Whether the peer may be shown another error now; absent: always. */
  mayTellError?(): boolean;
}

export interface GuardDeps {
  readonly kind: 'node' | 'session';
  /** From the gate, which also counts what it refuses. */
  readonly rate: { spend(): boolean };
  readonly bytesRead: () => number;
  readonly clock: Clock;
  readonly meter: Meter;
  readonly log: Log;
  /** Say which connection it is, in every log line. */
  readonly fields: Readonly<Record<string, unknown>>;
  readonly settings: GuardSettings;
  /** Absent: nobody wants to know what was slow. */
  readonly slow?: SlowWatch | undefined;
}

/** Attaches every listener before it returns, so that no frame is missed. `ended` resolves after the handler's last act. */
export function guardSocket(
  ws: WebSocket,
  deps: GuardDeps,
  open: (socket: GuardedSocket) => SocketHandler,
): GuardedSocket & { readonly ended: Promise<void> } {
  const { kind, clock, meter, settings, fields, log } = deps;
  const allowance = createMessageAllowance({
    clock,
    rate: deps.rate,
    maxDropped: settings.maxDroppedMessages,
  });
  const strikes = createTokenBucket(
    { perSecond: STRIKES_FORGIVEN_PER_SECOND, burst: settings.maxInvalidMessages },
    clock.now(),
  );
  let handler: SocketHandler | undefined;
  let isCut = false;
  let isHeldBack = false;
  let cancelFarewell: Cancel | undefined;

  const queue = createInOrder({
    maxWaiting: settings.maxWaitingMessages,
    maxWeight: settings.maxWaitingBytes,
    full: () => ws.pause(),
    eased: readOn,
    clock,
    waited: (ms) => deps.slow?.waited('socket_order', ms),
    failed(fault) {
      log.error({ ...fields, err: fault }, 'a message could not be handled');
      if (fault instanceof SchedulerError) sendError(fault.code, fault.message);
      else sendError('INTERNAL_ERROR', 'the message could not be handled');
    },
  });

  const liveness = watchLiveness({
    clock,
    intervalMs: settings.pingIntervalMs,
    bytesRead: deps.bytesRead,
    isPaused: () => ws.isPaused,
    ping: () => {
      if (isWritable()) ws.ping();
    },
    onDead() {
      noteCut('dead_peer');
      ws.terminate();
    },
  });

  function noteCut(reason: string): void {
    if (isCut) return;
    isCut = true;
    meter.count('scheduler_connections_cut_total', { reason });
    log.info({ ...fields, reason }, 'a socket was closed by the scheduler');
    endSoon();
  }

  function endSoon(): void {
    cancelFarewell ??= clock.after(settings.closeTimeoutMs, () => ws.terminate());
  }

  function cut(reason: CutReason): void {
    // The peer has said farewell already; it may still not end the connection.
    if (ws.readyState === WebSocket.CLOSING) endSoon();
    if (isCut || ws.readyState !== WebSocket.OPEN) return;
    noteCut(reason);
    ws.close(CUT_CODES[reason], reason);
    // The peer's own close frame is still to be read.
    ws.resume();
  }

  /** Checked before every frame that leaves: the library buffers without a limit. */
  function isWritable(): boolean {
    if (isCut || ws.readyState !== WebSocket.OPEN) return false;
    if (ws.bufferedAmount <= settings.maxBufferedBytes) return true;
    cut('too_slow');
    return false;
  }

  function send(text: string): boolean {
    if (!isWritable()) return false;
    ws.send(text);
    return true;
  }

  function sendError(code: ErrorCode, message: string, details?: ErrorDetails): void {
    if (handler?.mayTellError?.() !== false) send(errorText(code, message, details));
  }

  function reject(problem: Problem): void {
    meter.count('scheduler_invalid_messages_total', { edge: `ws_${kind}` });
    log.debug({ ...fields, path: problem.path, problem: problem.message }, 'an invalid message');
    sendError('INVALID_MESSAGE', problem.message, { path: problem.path });
    if (strikes.take(clock.now()) > 0) cut('invalid_messages');
  }

  function readOn(): void {
    if (!isHeldBack && !queue.isFull()) ws.resume();
  }

  /**
   * Speech over the rate is not dropped: reading pauses, and the peer is slowed down by its own connection. What had been
   * read already still comes through.
   */
  function holdBack(): void {
    if (isHeldBack) return;
    isHeldBack = true;
    ws.pause();
    clock.after(HOLD_MS, () => {
      isHeldBack = false;
      readOn();
    });
  }

  function mayPass(): boolean {
    if (kind === 'node') return isWithinRate();
    const verdict = allowance();
    if (verdict === 'limited') sendError('RATE_LIMITED', 'too many messages; they are read more slowly');
    if (verdict !== 'allowed') holdBack();
    return true;
  }

  function isWithinRate(): boolean {
    const verdict = allowance();
    if (verdict === 'allowed') return true;
    if (verdict === 'limited')
      sendError('RATE_LIMITED', 'too many messages; those over the rate are dropped');
    if (verdict === 'abused') cut('rate_limited');
    return false;
  }

  const socket: GuardedSocket = { send, sendError, reject, cut };
  const opened = open(socket);
  handler = opened;

  ws.on('message', (data: Buffer, isBinary) => {
    if (isCut || !mayPass()) return;
    if (isBinary) {
      reject({ path: '', message: 'messages are JSON in text frames, not binary ones' });
      return;
    }
    const text = data.toString();
    queue.push(() => opened.receive(text), data.length);
  });
  // Answered by hand, because answers to a flood of pings are also frames that a slow reader piles up.
  ws.on('ping', (data) => {
    if (!isCut && isWithinRate() && isWritable()) ws.pong(data);
  });
  ws.on('error', (error: Error & { code?: unknown }) => {
    const isProtocolError = typeof error.code === 'string' && error.code.startsWith('WS_ERR_');
    if (!isProtocolError) log.debug({ ...fields, err: error }, 'a socket broke');
    else noteCut(error.code === TOO_LONG ? 'payload_too_large' : 'protocol_error');
  });

  const ended = new Promise<void>((resolve) => {
    ws.on('close', () => {
      liveness.stop();
      cancelFarewell?.();
      opened.left();
      // Behind the messages that wait: what was received before the end counts as before it.
      queue.push(async () => {
        try {
          await opened.ended();
        } finally {
          resolve();
        }
      }, 0);
    });
  });
  return { ...socket, ended };
}

/** A program legacy that sends one message we do not know with each heartbeat must not lose its connection for it. */
const STRIKES_FORGIVEN_PER_SECOND = 0.1;
/** How long reading pauses when a session is over its rate. */
const HOLD_MS = 100;
const TOO_LONG = 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH';
