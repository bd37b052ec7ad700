/** Cold path: the open sessions as operators see them, a page at a time, newest first. A cursor outlives the session it was made of. */
import type { SessionId, TenantId } from '../domain/ids.ts';
import type { Session } from './session.ts';
import type { SessionPage, SessionView } from './session-service.ts';
import { viewOf } from './view.ts';

/** A page ends after so many sessions even if few are of the tenant; its cursor goes on from there. */
const MAX_SCANNED = 5_000;
/** Places of ended sessions are cleared away when there are more of them than open ones, and at least so many. */
const MIN_CLEARED = 64;

export interface Roster {
  add(sessionId: SessionId): void;
  /** One has left the sessions. */
  removed(): void;
  page(query: { tenantId?: TenantId | undefined; limit: number; cursor?: string | undefined }): SessionPage;
}

interface Place {
  /** Grows with every opening. */
  readonly sequence: number;
  readonly sessionId: SessionId;
}

export function createRoster(sessions: ReadonlyMap<SessionId, Session>): Roster {
  let places: Place[] = [];
  let sequence = 0;

  /** How many places come before this sequence. */
  function before(limit: number): number {
    let low = 0;
    let high = places.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((places[middle]?.sequence ?? 0) < limit) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  return {
    add(sessionId) {
      sequence += 1;
      places.push({ sequence, sessionId });
    },
    removed() {
      if (places.length < 2 * sessions.size + MIN_CLEARED) return;
      places = places.filter(({ sessionId }) => sessions.has(sessionId));
    },
    page({ tenantId, limit, cursor }) {
      const views: SessionView[] = [];
      const start = cursor === undefined ? places.length : before(Number(cursor));
      const end = Math.max(0, start - MAX_SCANNED);
      for (let at = start - 1; at >= end; at -= 1) {
        const place = places[at];
        const session = place && sessions.get(place.sessionId);
        if (session === undefined || (tenantId !== undefined && session.tenantId !== tenantId)) continue;
        views.push(viewOf(session));
        if (views.length >= limit && at > 0) return { sessions: views, cursor: String(place?.sequence) };
      }
      return end === 0 ? { sessions: views } : { sessions: views, cursor: String(places[end]?.sequence) };
    },
  };
}
