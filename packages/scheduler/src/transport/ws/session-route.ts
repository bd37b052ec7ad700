/** The path of sessions: who may come in, and what becomes of the connection. */
import type { SessionService } from '../../session/session-service.ts';
import { DRAINING_REFUSAL } from '../wire/error-answer.ts';
import { openSessionSocket, type SessionSocketDeps } from './session-socket.ts';
import type { SocketRoute } from './socket-server.ts';

export interface SessionRouteDeps extends SessionSocketDeps {
  readonly sessions: SessionService;
  readonly isDraining: () => boolean;
  readonly maxMessageBytes: number;
}

export function createSessionRoute(deps: SessionRouteDeps): SocketRoute {
  return {
    path: '/ws/session',
    kind: 'session',
    role: 'client',
    maxMessageBytes: deps.maxMessageBytes,
    refusal() {
      if (deps.isDraining()) return { reason: 'draining', refusal: DRAINING_REFUSAL };
      return deps.sessions.isFull() ? FULL : undefined;
    },
    // Who has no token names its tenant only when it opens its session.
    refusalOf({ tenantId }) {
      const full = tenantId === undefined ? undefined : deps.sessions.capRefusal(tenantId);
      if (full === undefined) return undefined;
      deps.meter.count('scheduler_tenant_refused_total', { limit: 'sessions' });
      return { reason: 'full', refusal: { code: 'RATE_LIMITED', status: 503, detail: full.detail } };
    },
    open: (socket, principal) => openSessionSocket(deps, socket, principal),
  };
}

const FULL = {
  reason: 'full',
  refusal: {
    code: 'RATE_LIMITED',
    status: 503,
    detail: 'this instance has no room for more sessions (session.max_sessions)',
  },
} as const;
