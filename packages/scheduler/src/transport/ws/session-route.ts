/** /ws/session: which sessions are accepted, and how their connections are handled. */
import type { SessionService } from '../../session/session-service.ts';
import { networkOf } from '../access/networks.ts';
import { DRAINING_REFUSAL } from '../wire/error-reply.ts';
import { createRoomFrames } from './rooms/session-rooms.ts';
import { openSessionSocket, type SessionSocketDeps } from './session-socket.ts';
import type { SocketRoute } from './socket-server.ts';

export interface SessionRouteDeps extends Omit<SessionSocketDeps, 'roomFrames'> {
  readonly sessions: SessionService;
  readonly isDraining: () => boolean;
}

export function createSessionRoute(given: SessionRouteDeps): SocketRoute {
  const deps = { ...given, roomFrames: createRoomFrames() };
  return {
    path: '/ws/session',
    kind: 'session',
    role: 'client',
    maxMessageBytes: deps.maxMessageBytes,
    refusal() {
      if (deps.isDraining()) return { reason: 'draining', refusal: DRAINING_REFUSAL };
      return deps.sessions.isFull() ? FULL : undefined;
    },
    // A client without a token names its tenant only in session_init.
    refusalOf({ tenantId }) {
      const full = tenantId === undefined ? undefined : deps.sessions.capRefusal(tenantId);
      if (full === undefined) return undefined;
      deps.meter.count('scheduler_tenant_refused_total', { limit: 'sessions' });
      return { reason: 'full', refusal: { code: 'RATE_LIMITED', status: 503, detail: full.detail } };
    },
    open: (socket, principal, address) => openSessionSocket(deps, socket, principal, networkOf(address)),
  };
}

const FULL = {
  reason: 'full',
  refusal: {
    code: 'RATE_LIMITED',
    status: 503,
    detail: 'this instance cannot hold more sessions (session.max_sessions)',
  },
} as const;
