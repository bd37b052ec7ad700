/**
 * One accepted socket of a node or a session, with limits for rate, size, invalid messages, slow readers and dead
 * peers. Messages are handled in order.
 */
import type { Problem } from '@lingua/protocol';
import { WebSocket } from 'ws';
import { type ErrorCode, SchedulerError } from '../../domain/errors.ts';
import type { Cancel, Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import type { Meter } from '../../ports/meter.ts';
import type { SlowWatch } from '../../ports/slow-watch.ts';
import type { LostRights } from '../access/gate.ts';
import { createTokenBucket } from '../access/token-bucket.ts';
import { CLOSE_CODES, type CloseReason } from './close-reasons.ts';
import { type ErrorDetails, errorText } from './error-message.ts';
import { watchLiveness } from './liveness.ts';
import { createMessageAllowance } from './message-allowance.ts';
import { createTaskQueue } from './task-queue.ts';

export interface GuardSettings {
  readonly pingIntervalMs: number;
  /** Invalid messages before the socket is closed; one is forgiven every ten seconds. */
  readonly maxInvalidMessages: number;
  /**
   * Unsent bytes before the peer counts as a slow reader. A single message may exceed it, otherwise a long one could
   * never be sent.
   */
  readonly maxBufferedBytes: number;
  /** Messages over the rate before the socket is closed. A second without excess resets the count. */
  readonly maxDroppedMessages: number;
  /** Queued messages, and their bytes, before reading stops. */
  readonly maxWaitingMessages: number;
  readonly maxWaitingBytes: number;
  /** How long a peer may take to answer the close frame. */
  readonly closeTimeoutMs: number;
}

export interface GuardedSocket {
  /** False: the socket is not open, or it was closed because the peer reads too slowly. */
  send(text: string): boolean;
  sendError(code: ErrorCode, message: string, details?: ErrorDetails): void;
  /** Answers an invalid message with an error and counts it. `about` names what the message is about. */
  reject(problem: Problem, about?: ErrorDetails): void;
  /** Counts an invalid message that gets its answer later. */
  noteInvalid(problem: Problem): void;
  /** Bytes that the peer has not read yet. */
  unsentBytes(): number;
  /** Closes for a reason. Messages that arrive later are ignored; queued ones are still handled. */
  cut(reason: CloseReason): void;
}

/** How one kind of socket handles its messages. */
export interface SocketHandler {
  /** The next message follows when this one is handled. */
  receive(text: string): Promise<void> | void;
  /** The connection has ended; messages may still be queued. */
  left(): void;
  /** The last message was handled. */
  ended(): Promise<void> | void;
  /** Whether another error may be sent now; absent: always. */
  maySendError?(): boolean;
}

export interface GuardDeps {
  readonly kind: 'node' | 'session';
  /** From the gate, which also counts refusals. */
  readonly rate: { spend(): boolean };
  readonly bytesRead: () => number;
  readonly clock: Clock;
  readonly meter: Meter;
  readonly log: Log;
  /** Identify the connection in every log line. */
  readonly fields: Readonly<Record<string, unknown>>;
  readonly settings: GuardSettings;
  /** Absent: slow handling is not recorded. */
  readonly slow?: SlowWatch | undefined;
}

/** Attaches every listener before it returns, so that no frame is missed. `ended` resolves after the handler's `ended`. */
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
  const invalidMessageBudget = createTokenBucket(
    { perSecond: FORGIVEN_INVALID_MESSAGES_PER_SECOND, burst: settings.maxInvalidMessages },
    clock.now(),
  );
  let handler: SocketHandler | undefined;
  let isCut = false;
  let isReadingPaused = false;
  let cancelTermination: Cancel | undefined;

  const queue = createTaskQueue({
    maxWaiting: settings.maxWaitingMessages,
    maxWeight: settings.maxWaitingBytes,
    full: () => ws.pause(),
    eased: resumeReading,
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
    log.info({ ...fields, reason }, 'the scheduler closed a socket');
    const timeoutMs = LOST_RIGHTS.has(reason) ? REVOKED_CLOSE_TIMEOUT_MS : Number.POSITIVE_INFINITY;
    terminateSoon(Math.min(timeoutMs, settings.closeTimeoutMs));
  }

  function terminateSoon(afterMs = settings.closeTimeoutMs): void {
    cancelTermination ??= clock.after(afterMs, () => ws.terminate());
  }

  function cut(reason: CloseReason): void {
    // The peer has sent its close frame, but may never end the connection.
    if (ws.readyState === WebSocket.CLOSING) terminateSoon();
    if (isCut || ws.readyState !== WebSocket.OPEN) return;
    noteCut(reason);
    ws.close(CLOSE_CODES[reason], reason);
    // The peer's close frame still has to be read.
    ws.resume();
  }

  /** Checked before every frame: the library buffers without a limit. */
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
    if (handler?.maySendError?.() !== false) send(errorText(code, message, details));
  }

  function noteInvalid(problem: Problem): void {
    meter.count('scheduler_invalid_messages_total', { edge: `ws_${kind}` });
    log.debug({ ...fields, path: problem.path, problem: problem.message }, 'invalid message');
  }

  function reject(problem: Problem, about?: ErrorDetails): void {
    noteInvalid(problem);
    sendError('INVALID_MESSAGE', problem.message, { ...about, path: problem.path });
    // A refusal that names its audio is an answer: a client that sends many in a format we do not know keeps its connection.
    const isAnswer = about !== undefined && Object.keys(about).length > 0;
    if (!isAnswer && invalidMessageBudget.take(clock.now()) > 0) cut('invalid_messages');
  }

  function resumeReading(): void {
    if (!isReadingPaused && !queue.isFull()) ws.resume();
  }

  /**
   * A session's messages over the rate are not dropped: reading pauses, and TCP slows the client down. Messages
   * already read are handled.
   */
  function pauseReading(): void {
    if (isReadingPaused) return;
    isReadingPaused = true;
    ws.pause();
    clock.after(READING_PAUSE_MS, () => {
      isReadingPaused = false;
      resumeReading();
    });
  }

  function admitMessage(): boolean {
    if (kind === 'node') return isWithinRate();
    const allowed = allowance();
    if (allowed === 'limited') sendError('RATE_LIMITED', 'too many messages; they are read more slowly');
    if (allowed !== 'allowed') pauseReading();
    return true;
  }

  function isWithinRate(): boolean {
    const allowed = allowance();
    if (allowed === 'allowed') return true;
    if (allowed === 'limited')
      sendError('RATE_LIMITED', 'too many messages; those over the rate are dropped');
    if (allowed === 'abused') cut('rate_limited');
    return false;
  }

  const unsentBytes = (): number => ws.bufferedAmount;
  const socket: GuardedSocket = { send, sendError, reject, noteInvalid, unsentBytes, cut };
  const opened = open(socket);
  handler = opened;

  ws.on('message', (data: Buffer, isBinary) => {
    if (isCut || !admitMessage()) return;
    if (isBinary) {
      reject({ path: '', message: 'messages are JSON in text frames, not binary ones' });
      return;
    }
    const text = data.toString();
    queue.push(() => opened.receive(text), data.length);
  });
  // The library does not answer pings: a flood of them would pile up pongs for a slow reader.
  ws.on('ping', (data) => {
    if (!isCut && isWithinRate() && isWritable()) ws.pong(data);
  });
  ws.on('error', (error: Error & { code?: unknown }) => {
    const isProtocolError = typeof error.code === 'string' && error.code.startsWith('WS_ERR_');
    if (!isProtocolError) log.debug({ ...fields, err: error }, 'a socket failed');
    else noteCut(error.code === TOO_LONG ? 'payload_too_large' : 'protocol_error');
  });

  const ended = new Promise<void>((resolve) => {
    ws.on('close', () => {
      liveness.stop();
      cancelTermination?.();
      opened.left();
      // Queued behind the waiting messages, because they were received before the end.
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

/** A legacy program may send an unknown message with each heartbeat and must keep its connection. */
const FORGIVEN_INVALID_MESSAGES_PER_SECOND = 0.1;
/** The owner of a revoked token has no right to a slow end: its sockets are closed within a second of the reload. */
const LOST_RIGHTS: ReadonlySet<string> = new Set<LostRights>(['revoked', 'expired']);
const REVOKED_CLOSE_TIMEOUT_MS = 500;
/** How long reading pauses when a session exceeds its rate. */
const READING_PAUSE_MS = 100;
const TOO_LONG = 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH';
