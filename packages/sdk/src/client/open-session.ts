/** Composes a session of outbox, sender, link, receipts and listeners. */
import type { Cancel } from './clock.ts';
import { createLink } from './connection/link.ts';
import { createListeners } from './listeners.ts';
import { createOutbox, type NamedAudio } from './outbox.ts';
import type { Frame } from './outbox-entry.ts';
import { createOutcomeCounter, expectedOutcomes } from './outcome-counter.ts';
import { asCount, asText, type ServerFrame } from './read-frame.ts';
import { createReceipts } from './receipts.ts';
import { createRooms } from './rooms/create-rooms.ts';
import { createSender } from './sender.ts';
import type { Session, SessionState } from './session.ts';
import type { SessionEnd, SessionEvent } from './session-events.ts';
import { sessionInit } from './session-messages.ts';
import { readOptions, type SessionOptions } from './session-options.ts';
import { createStatsCollector, reportOf } from './session-stats.ts';
import { toSessionEvent } from './to-session-event.ts';

/** Delay before audio is sent again that the scheduler refused for lack of space. */
const REFUSED_MS = 1_000;

/** Connects immediately and retries without limit. Throws only if the options are invalid. */
export function openSession(options: SessionOptions): Session {
  const settings = readOptions(options);
  const { clock, limits, timings } = settings;
  const listeners = createListeners(settings.onListenerError);
  const stats = createStatsCollector();
  const emit = (event: SessionEvent): void => {
    stats.note(event, clock.now());
    listeners.emit(event);
  };
  const outbox = createOutbox(limits, settings.newRequestId);
  let state: SessionState = 'connecting';
  let end: SessionEnd | undefined;
  let closeReason = '';
  let hasSentClose = false;
  let cancelClosing: Cancel | undefined;
  const outcomes = createOutcomeCounter();
  const whenEnded: ((end: SessionEnd) => void)[] = [];
  const whenSettled: (() => void)[] = [];

  const link = createLink({
    ...settings,
    buildFirstMessage: (resume) =>
      sessionInit(settings, resume && { ...resume, deliverySeq: receipts.highest() }),
    onOpened(sessionId, isResumed, hasMoved, frame) {
      outcomes.opened(isResumed, expectedOutcomes(frame));
      if (state !== 'closing') state = 'open';
      receipts.opened(isResumed);
      // First: audio is held until the room is entered again.
      rooms.opened();
      // Before the listeners are called: audio that they send must follow the kept audio.
      sender.opened(isResumed, hasMoved);
      emit({ type: 'open', sessionId, resumed: isResumed });
    },
    onFrame: receive,
    onDraining: (reconnectAfterMs) => emit({ type: 'draining', reconnectAfterMs }),
    onLost({ code, reason }) {
      hasSentClose = false;
      if (state === 'open') state = 'reconnecting';
      rooms.lost();
      emit({ type: 'disconnected', code, reason });
      // Only the confirmation is lost with this connection.
      if (state === 'closing' && outbox.isEmpty()) finish('closed', false);
    },
    onRetry: (attempt, delayMs) => emit({ type: 'reconnecting', attempt, delayMs }),
    onRefused(frame) {
      const event = toSessionEvent(frame, outbox.requestIdOf) as SessionEvent<'error'>;
      state = 'failed';
      emit({ ...event, isFatal: true });
      closeReason = event.code;
      finish('failed', false);
    },
  });
  const rooms = createRooms({
    clock,
    send: link.send,
    onReturned: () => sender.pump(),
    onListenerError: (error) => settings.onListenerError(error, undefined),
  });
  const receipts = createReceipts({
    clock,
    delayMs: timings.ackDelayMs,
    acknowledge: (deliverySeq) =>
      link.send({ type: 'result_ack', session_id: sessionId(), delivery_seq: deliverySeq }),
  });
  const sender = createSender({
    clock,
    link,
    outbox,
    audio: settings,
    maxSocketBytes: limits.maxSocketBytes,
    isHeld: rooms.isReturning,
    onTooLong: rejectTooLong,
    onIdle: sendClose,
  });

  function sessionId(): string {
    return link.sessionId() ?? '';
  }

  function receive(frame: ServerFrame): void {
    const { type } = frame;
    if (type === 'session_close_ack') {
      // Without being asked, only the scheduler that names this session may end it.
      if (state !== 'closing' && frame.session_id !== sessionId()) return;
      if (state !== 'closing') closeReason = 'closed by the scheduler';
      finish('closed', true);
    } else if (type === 'utterance_accepted') accepted(frame);
    else if (OUTCOMES.has(type)) outcome(frame);
    else if (!rooms.receive(frame)) {
      const event = toSessionEvent(frame, outbox.requestIdOf);
      if (event === undefined) return;
      emit(event);
      if (event.type === 'backpressure') sender.applyBackpressure(event.action, event.resumeAfterMs);
      else if (event.type === 'error') failed(event);
    }
  }

  function failed(error: SessionEvent<'error'>): void {
    const details = Object(error.details) as Record<string, unknown>;
    if (error.code === 'RATE_LIMITED') limited(details);
    // The failure of a job comes with its own outcome.
    else if (details.job_id === undefined) rejected(error, readNamedAudio(details));
  }

  function limited({ seq, request_id }: Record<string, unknown>): void {
    if (outbox.refused(asCount(seq), asText(request_id))) sender.applyBackpressure('PAUSE', REFUSED_MS);
    else sender.applyBackpressure('SLOW_DOWN', undefined);
  }

  function rejected(error: SessionEvent<'error'>, audio: NamedAudio): void {
    const requestId = outbox.rejected(audio);
    if (requestId === undefined) return;
    emit({
      type: 'missing',
      utteranceIndex: undefined,
      requestId,
      reason: 'refused',
      language: undefined,
      part: 'text',
      error,
      message: undefined,
    });
    moved();
  }

  function rejectTooLong(frame: Frame, messageBytes: number, maxBytes: number): void {
    const error: SessionEvent<'error'> = {
      type: 'error',
      code: 'PAYLOAD_TOO_LARGE',
      message: `the utterance is a message of ${messageBytes} bytes; this scheduler accepts ${maxBytes} (server.limits.max_message_bytes): send it in parts`,
      details: {
        request_id: frame.requestId,
        ...(frame.kind === 'chunk' && { first_seq: frame.seq, last_seq: frame.seq }),
        max_message_bytes: maxBytes,
      },
      isFatal: false,
    };
    emit(error);
    failed(error);
  }

  function accepted(frame: ServerFrame): void {
    const utteranceIndex = asCount(frame.utterance_index);
    if (utteranceIndex === undefined) return;
    const requestId = outbox.accepted({ ...readNamedAudio(frame), utteranceIndex });
    emit({ type: 'accepted', utteranceIndex, requestId, jobId: asText(frame.job_id) ?? '' });
    moved();
  }

  function outcome(frame: ServerFrame): void {
    const event = toSessionEvent(frame, outbox.requestIdOf);
    if (event?.type !== 'result' && event?.type !== 'voice' && event?.type !== 'missing') return;
    if (receipts.isNew(asCount(frame.delivery_seq))) {
      const { utteranceIndex: index } = event;
      const isNew = index === undefined || outbox.answered(index, laneOf(event));
      if (index !== undefined && outcomes.isLast(index)) outbox.settled(index);
      if (isNew) emit(event);
      moved();
    }
    receipts.arrived();
  }

  /** An entry left the outbox, or no longer counts as in flight. */
  function moved(): void {
    sender.pump();
    if (!outbox.isEmpty()) return;
    for (const resolve of whenSettled.splice(0)) resolve();
  }

  const isOver = (): boolean => state === 'closing' || state === 'closed' || state === 'failed';

  function refuse(bytes: Uint8Array): void {
    emit({
      type: 'overflow',
      refusedBytes: bytes.length,
      keptBytes: outbox.keptBytes(),
      limitBytes: limits.maxKeptBytes,
    });
  }

  function sendClose(): void {
    if (state !== 'closing' || hasSentClose) return;
    hasSentClose = true;
    receipts.flush();
    link.send({
      type: 'session_close',
      session_id: sessionId(),
      reason: closeReason,
      stats: settings.reportStats ? reportOf(stats.read()) : undefined,
    });
  }

  function close(reason: string): void {
    closeReason = reason;
    outbox.endUtterance();
    state = 'closing';
    // The scheduler has no such session, and no audio was sent.
    if (!link.isOpen() && outbox.isEmpty()) finish('closed', false);
    else {
      cancelClosing = clock.after(timings.closeTimeoutMs, () => finish('closed', false));
      sender.pump();
    }
  }

  function finish(last: 'closed' | 'failed', isAcknowledged: boolean): void {
    if (end !== undefined) return;
    state = last;
    end = { reason: closeReason, isAcknowledged, unsettledBytes: outbox.audioBytes() };
    cancelClosing?.();
    receipts.flush();
    receipts.stop();
    sender.stop();
    link.end('closed by the client');
    rooms.closed();
    emit({ type: 'closed', ...end });
    for (const resolve of whenSettled.splice(0)) resolve();
    for (const resolve of whenEnded.splice(0)) resolve(end);
  }

  link.open();

  return {
    get state() {
      return state;
    },
    get sessionId() {
      return link.sessionId();
    },
    get unsettledBytes() {
      return outbox.audioBytes();
    },
    rooms: rooms.rooms,
    sendAudio(bytes) {
      check(bytes, limits.maxChunkBytes);
      if (isOver()) return false;
      if (bytes.length === 0) return true;
      const isTaken = outbox.addChunk(bytes);
      if (isTaken) sender.pump();
      else refuse(bytes);
      return isTaken;
    },
    endUtterance() {
      if (isOver()) return undefined;
      const requestId = outbox.endUtterance();
      if (requestId !== undefined) stats.ended(requestId, clock.now());
      sender.pump();
      return requestId;
    },
    sendUtterance(bytes, how = {}) {
      check(bytes, limits.maxUtteranceBytes);
      if (bytes.length === 0) throw new RangeError('an utterance must have audio');
      if (isOver()) return undefined;
      const requestId = how.requestId ?? settings.newRequestId();
      const isTaken = outbox.addUtterance(requestId, bytes, how);
      if (isTaken) {
        stats.ended(requestId, clock.now());
        sender.pump();
      } else refuse(bytes);
      return isTaken ? requestId : undefined;
    },
    playbackStarted: (groupId, traceId) =>
      link.send({
        type: 'tts_started',
        session_id: sessionId(),
        trace_id: traceId,
        group_id: groupId,
        ts_start_ms: clock.now(),
      }),
    playbackEnded: (groupId, traceId) =>
      link.send({
        type: 'tts_play_ended',
        session_id: sessionId(),
        trace_id: traceId,
        group_id: groupId,
        ts_end_ms: clock.now(),
      }),
    getStats: stats.read,
    settled: () =>
      end !== undefined || outbox.isEmpty()
        ? Promise.resolve()
        : new Promise((resolve) => whenSettled.push(resolve)),
    close(reason = 'done') {
      if (end !== undefined) return Promise.resolve(end);
      const ended = new Promise<SessionEnd>((resolve) => whenEnded.push(resolve));
      if (state !== 'closing') close(reason);
      return ended;
    },
    on: listeners.on,
  };
}

/** Which of the outcomes of its utterance it is. */
const laneOf = (event: SessionEvent<'result' | 'voice' | 'missing'>): string =>
  `${event.language ?? ''}/${event.type === 'missing' ? event.part : event.type === 'voice' ? 'voice' : 'text'}`;

const OUTCOMES: ReadonlySet<unknown> = new Set(['translation_result', 'voice_result', 'missing_result']);

const readNamedAudio = (fields: Readonly<Record<string, unknown>>): NamedAudio => ({
  utteranceIndex: asCount(fields.utterance_index),
  requestId: asText(fields.request_id),
  firstSeq: asCount(fields.first_seq),
  lastSeq: asCount(fields.last_seq),
});

/** Throws instead of returning false, because a retry would never succeed. */
function check(bytes: Uint8Array, maxBytes: number): void {
  if (!(bytes instanceof Uint8Array)) throw new TypeError('audio must be a Uint8Array');
  if (bytes.length > maxBytes)
    throw new RangeError(`${bytes.length} bytes of audio at once; at most ${maxBytes} are accepted`);
}
