/** /ws/session: a connection sends for the session that it opened, and for others of the same credential. */
import { type Problem, parseSessionMessage, type SessionInit } from '@lingua/protocol';
import type { ErrorCode } from '../../domain/errors.ts';
import type { SessionId } from '../../domain/ids.ts';
import type { Clock } from '../../ports/clock.ts';
import type { IdSource } from '../../ports/id-source.ts';
import type { Log } from '../../ports/log.ts';
import type { Meter } from '../../ports/meter.ts';
import type { SessionLink } from '../../session/output.ts';
import type { RoomMembers } from '../../session/rooms/room-service.ts';
import type { Opening } from '../../session/session.ts';
import type { Opened, SessionService } from '../../session/session-service.ts';
import type { Gate, Principal } from '../access/gate.ts';
import { languageRefusal, sessionRefusal } from '../access/token-scope.ts';
import { countClientStats } from './count-client-stats.ts';
import type { GuardedSocket, SocketHandler } from './guarded-socket.ts';
import { nameAudio, placeOf } from './name-audio.ts';
import { readMessage, readOpening, type SessionMessage } from './read-session-messages.ts';
import { createSessionRooms, isRoomMessage, type RoomFrames } from './rooms/session-rooms.ts';
import { toSessionMessage } from './write-session-messages.ts';

export interface SessionSocketDeps {
  readonly sessions: Pick<SessionService, 'open' | 'receive' | 'left' | 'close' | 'takeIndex'>;
  readonly rooms: RoomMembers;
  readonly roomFrames: RoomFrames;
  readonly gate: Pick<Gate, 'tenantOf'>;
  readonly ids: Pick<IdSource, 'traceId'>;
  readonly clock: Clock;
  readonly meter: Meter;
  readonly log: Log;
  readonly maxMessageBytes: number;
  /** From the opening of the socket to its session_init. */
  readonly initDeadlineMs: number;
}

type InvalidMessage = Extract<ReturnType<typeof parseSessionMessage>, { kind: 'invalid' }>;

/** Legacy clients show every error as an alert. */
const LEGACY_ERROR_INTERVAL_MS = 10_000;
const SESSIONS = { limit: 'sessions' };
/** Refusals that a client may retry soon. */
const TRANSIENT: ReadonlySet<ErrorCode> = new Set(['RATE_LIMITED', 'SCHEDULER_DEPENDENCY_DOWN']);

export function openSessionSocket(
  deps: SessionSocketDeps,
  socket: GuardedSocket,
  principal: Principal,
  address: string,
): SocketHandler {
  const { sessions, meter, log, clock } = deps;
  let sessionId: SessionId | undefined;
  /** Of the open session, or of the one that is being opened. */
  let opening: Opening | undefined;
  let isLegacy = true;
  let hasLeft = false;
  let lastErrorAt = Number.NEGATIVE_INFINITY;
  const cancelDeadline = clock.after(deps.initDeadlineMs, () => socket.cut('registration_deadline'));

  const link: SessionLink = {
    send(id, output) {
      if (output.kind === 'error' && !maySendError()) return;
      const message = toSessionMessage(id, output, isLegacy ? undefined : deps.maxMessageBytes);
      socket.send(JSON.stringify(message));
      if (output.kind === 'closed' && output.isOrdered) socket.cut('closed_by_operator');
    },
    replaced: () => socket.cut('replaced'),
    abandoned: () => socket.cut('fenced'),
  };

  const rooms = createSessionRooms({
    ...deps,
    frames: deps.roomFrames,
    socket,
    principal,
    address,
    session() {
      if (sessionId === undefined || opening === undefined) return undefined;
      const { tenantId, speech } = opening;
      const { source, target } = speech.languages;
      return { sessionId, tenantId, isLegacy, source, target };
    },
  });

  function maySendError(): boolean {
    const now = clock.now();
    if (isLegacy && now - lastErrorAt < LEGACY_ERROR_INTERVAL_MS) return false;
    lastErrorAt = now;
    return true;
  }

  function sendError(code: ErrorCode, message: string, details?: Readonly<Record<string, unknown>>): void {
    socket.sendError(code, message, details);
  }

  /** Closes the socket, so that a client whose session was refused does not wait for it. */
  function refuse(code: ErrorCode, message: string, path?: string): void {
    log.info({ code, reason: message }, 'a session was refused');
    sendError(code, message, path === undefined ? undefined : { path });
    socket.cut(TRANSIENT.has(code) ? 'unavailable' : 'refused');
  }

  function init(message: SessionInit) {
    cancelDeadline();
    isLegacy = message.supports === undefined;
    const tenant = deps.gate.tenantOf(principal, message.tenant_id);
    if (tenant.kind === 'forbidden') return refuse('FORBIDDEN', tenant.message, '/tenant_id');
    const beyond =
      sessionRefusal(principal.scope, message.resume_session_id, '/resume_session_id') ??
      languageRefusal(principal.scope, message);
    if (beyond !== undefined) return refuse('FORBIDDEN', beyond.message, beyond.field);
    const { credential } = principal;
    const read = readOpening(message, { tenantId: tenant.tenantId, credential, traceId: deps.ids.traceId() });
    if (read.kind === 'invalid') return refuse('INVALID_MESSAGE', read.problem.message, read.problem.path);
    // A connection has one session. The previous one stays until it expires.
    leave();
    sessionId = undefined;
    opening = read.value;
    const opened = sessions.open(opening, link);
    // A session of another instance must be fetched first; the client's next messages wait in the queue.
    return opened instanceof Promise ? opened.then(onOpened) : onOpened(opened);
  }

  function onOpened(opened: Opened) {
    if (opened.kind === 'full') {
      if (opened.limit === 'tenant') meter.count('scheduler_tenant_refused_total', SESSIONS);
      return refuse('RATE_LIMITED', opened.detail);
    }
    if (opened.kind === 'unavailable') {
      return refuse('SCHEDULER_DEPENDENCY_DOWN', 'sessions of other instances cannot be looked up now');
    }
    // The session of the token was not resumed: a new one is beyond its scope.
    const beyond = sessionRefusal(principal.scope, opened.sessionId, '/resume_session_id');
    if (beyond !== undefined) {
      refuse('FORBIDDEN', beyond.message, beyond.field);
      sessions.close(opened.sessionId);
      return;
    }
    sessionId = opened.sessionId;
    if (hasLeft) leave();
  }

  function leave(): void {
    if (sessionId === undefined) return;
    rooms.left(sessionId);
    sessions.left(sessionId, link);
  }

  function forward(message: SessionMessage) {
    const beyond = message.type === 'utterance' ? languageRefusal(principal.scope, message) : undefined;
    if (beyond !== undefined)
      return socket.reject({ path: beyond.field, message: beyond.message }, nameAudio(message.type, message));
    const read = readMessage(message);
    if (read.kind === 'invalid') return reject(read.problem, message.type, message);
    const taken = sessions.receive(message.session_id, principal.credential, read.value);
    if (taken === 'unknown') drop(message);
  }

  /** A session answers for its chunks itself, once for all chunks of the utterance. */
  function reject(problem: Problem, type: string | undefined, fields: Readonly<Record<string, unknown>>) {
    const place = type === 'audio_chunk' ? placeOf(fields) : undefined;
    const id = typeof fields.session_id === 'string' ? fields.session_id : sessionId;
    const chunk = place && ({ kind: 'chunk', audio: undefined, ...place, refusal: problem } as const);
    const isTaken =
      chunk !== undefined &&
      id !== undefined &&
      sessions.receive(id, principal.credential, chunk) === 'taken';
    if (isTaken) socket.noteInvalid(problem);
    else socket.reject(problem, nameAudio(type, fields));
  }

  function drop(message: SessionMessage) {
    meter.count('scheduler_session_messages_dropped_total', { reason: 'unknown_session' });
    // A legacy client may send late frames; it would show an alert for each error.
    if (!isLegacy) sendError('INVALID_SESSION', `session ${message.session_id} is not open here`);
  }

  /** An unreadable session_init is refused: the client cannot go on without a session. */
  function rejectInvalid({ problem, type, fields = {} }: InvalidMessage): void {
    if (type !== undefined && isRoomMessage(type)) {
      rooms.reject(problem);
      return;
    }
    reject(problem, type, fields);
    if (type !== 'session_init') return;
    log.info({ code: 'INVALID_MESSAGE', reason: problem.message }, 'a session was refused');
    socket.cut('refused');
  }

  return {
    receive(text) {
      const parsed = parseSessionMessage(text);
      if (parsed.kind === 'invalid') return rejectInvalid(parsed);
      const { message } = parsed;
      switch (message.type) {
        case 'session_init':
          return init(message);
        case 'audio_chunk':
        case 'utterance':
        case 'client_heartbeat':
        case 'tts_started':
        case 'tts_play_ended':
        case 'result_ack':
          return forward(message);
        case 'session_close':
          countClientStats(meter, message.stats);
          return forward(message);
        default:
          return rooms.receive(message);
      }
    },
    maySendError,
    left() {
      cancelDeadline();
      hasLeft = true;
      leave();
    },
    ended() {},
  };
}
