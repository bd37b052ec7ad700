/** /ws/session: a connection speaks for the session it opened, and for others of the same credential. */
import { type Problem, parseSessionMessage, type SessionInit } from '@lingua/protocol';
import type { ErrorCode } from '../../domain/errors.ts';
import type { SessionId } from '../../domain/ids.ts';
import type { Clock } from '../../ports/clock.ts';
import type { IdSource } from '../../ports/id-source.ts';
import type { Log } from '../../ports/log.ts';
import type { Meter } from '../../ports/meter.ts';
import type { SessionLink } from '../../session/output.ts';
import { isRoomMessage, ROOMS_UNSUPPORTED } from '../../session/rooms/unsupported.ts';
import type { Opened, SessionService } from '../../session/session-service.ts';
import type { Gate, Principal } from '../access/gate.ts';
import type { GuardedSocket, SocketHandler } from './guarded-socket.ts';
import { readMessage, readOpening, type SessionMessage } from './session-messages.ts';
import { sessionWords } from './session-words.ts';

export interface SessionSocketDeps {
  readonly sessions: Pick<SessionService, 'open' | 'receive' | 'left'>;
  readonly gate: Pick<Gate, 'tenantOf'>;
  readonly ids: Pick<IdSource, 'traceId'>;
  readonly clock: Clock;
  readonly meter: Meter;
  readonly log: Log;
  /** From the opening of the socket to its session_init. */
  readonly initDeadlineMs: number;
}

/** Clients legacy show every error as an alert. */
const ERRORS_APART_MS = 10_000;
const SESSIONS = { limit: 'sessions' };
/** What may be otherwise a moment later. */
const PASSING: ReadonlySet<ErrorCode> = new Set(['RATE_LIMITED', 'SCHEDULER_DEPENDENCY_DOWN']);

export function openSessionSocket(
  deps: SessionSocketDeps,
  socket: GuardedSocket,
  principal: Principal,
): SocketHandler {
  const { sessions, meter, log, clock } = deps;
  let sessionId: SessionId | undefined;
  let isLegacy = true;
  let isGone = false;
  let lastErrorAt = Number.NEGATIVE_INFINITY;
  const cancelDeadline = clock.after(deps.initDeadlineMs, () => socket.cut('registration_deadline'));

  const link: SessionLink = {
    send(id, output) {
      if (output.kind === 'error' && !mayTellError()) return;
      socket.send(JSON.stringify(sessionWords(id, output)));
    },
    replaced: () => socket.cut('replaced'),
    abandoned: () => socket.cut('fenced'),
  };

  function mayTellError(): boolean {
    const now = clock.now();
    if (isLegacy && now - lastErrorAt < ERRORS_APART_MS) return false;
    lastErrorAt = now;
    return true;
  }

  function sendError(code: ErrorCode, message: string, details?: Readonly<Record<string, unknown>>): void {
    socket.sendError(code, message, details);
  }

  /** A session that cannot be served must not be left to wait. */
  function refuse(code: ErrorCode, message: string, path?: string): void {
    log.info({ code, reason: message }, 'a session was refused');
    sendError(code, message, path === undefined ? undefined : { path });
    socket.cut(PASSING.has(code) ? 'unavailable' : 'refused');
  }

  function init(message: SessionInit) {
    cancelDeadline();
    isLegacy = message.supports === undefined;
    const tenant = deps.gate.tenantOf(principal, message.tenant_id);
    if (tenant.kind === 'forbidden') return refuse('FORBIDDEN', tenant.message, '/tenant_id');
    const { credential } = principal;
    const read = readOpening(message, { tenantId: tenant.tenantId, credential, traceId: deps.ids.traceId() });
    if (read.kind === 'invalid') return refuse('INVALID_MESSAGE', read.problem.message, read.problem.path);
    // One connection, one session: what it had before is left to its own end.
    if (sessionId !== undefined) sessions.left(sessionId, link);
    sessionId = undefined;
    const opening = sessions.open(read.value, link);
    // One that is elsewhere has to be fetched; what the client says meanwhile waits for its turn.
    return opening instanceof Promise ? opening.then(answered) : answered(opening);
  }

  function answered(opened: Opened) {
    if (opened.kind === 'full') {
      if (opened.limit === 'tenant') meter.count('scheduler_tenant_refused_total', SESSIONS);
      return refuse('RATE_LIMITED', opened.detail);
    }
    if (opened.kind === 'unavailable') {
      return refuse('SCHEDULER_DEPENDENCY_DOWN', 'sessions of other instances cannot be looked for now');
    }
    sessionId = opened.sessionId;
    if (isGone) sessions.left(sessionId, link);
  }

  function drop(message: SessionMessage) {
    meter.count('scheduler_session_messages_dropped_total', { reason: 'unknown_session' });
    // Late frames of a legacy client are no reason for an alert.
    if (!isLegacy) sendError('INVALID_SESSION', `session ${message.session_id} is not open here`);
  }

  const refuseRooms = (): void => sendError(ROOMS_UNSUPPORTED.code, ROOMS_UNSUPPORTED.message);

  /** A session_init of which nothing can be made is as little served as one that is refused. */
  function misunderstood(problem: Problem, type: string | undefined): void {
    // What is not served is not looked into: its fields may be those of a later protocol.
    if (type !== undefined && isRoomMessage(type)) {
      refuseRooms();
      return;
    }
    socket.reject(problem);
    if (type !== 'session_init') return;
    log.info({ code: 'INVALID_MESSAGE', reason: problem.message }, 'a session was refused');
    socket.cut('refused');
  }

  return {
    receive(text) {
      const parsed = parseSessionMessage(text);
      if (parsed.kind === 'invalid') return misunderstood(parsed.problem, parsed.type);
      const { message } = parsed;
      if (message.type === 'session_init') return init(message);
      if (!('session_id' in message) || isRoomMessage(message.type)) {
        return refuseRooms();
      }
      const read = readMessage(message);
      if (read.kind === 'invalid') return socket.reject(read.problem);
      const taken = sessions.receive(message.session_id, principal.credential, read.value);
      if (taken === 'unknown') drop(message);
    },
    mayTellError,
    left() {
      cancelDeadline();
      isGone = true;
      if (sessionId !== undefined) sessions.left(sessionId, link);
    },
    ended() {},
  };
}
