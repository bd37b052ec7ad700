/** Hot path: the sessions of this instance, which of them have a client, and the size of their results. */
import type { SessionId, TenantId } from '../../domain/ids.ts';
import type { Opening, Session } from '../session.ts';
import type { SessionsFull } from '../session-service.ts';
import { createLanguageCount, type LanguageUses } from './language-use.ts';
import { createSessionPages, type SessionPages } from './session-pages.ts';
import type { TenantSessionCaps } from './tenant-session-caps.ts';

/** What was counted of a session before a step. */
export interface CountedState {
  readonly isConnected: boolean;
  readonly opening: Opening;
  readonly resultBytes: number;
}

export interface SessionTable extends Pick<SessionPages, 'page'> {
  readonly sessions: ReadonlyMap<SessionId, Session>;
  add(session: Session): void;
  /** False: it was not in the table. */
  remove(session: Session): boolean;
  countedState(session: Session): CountedState;
  /** Updates the counts after a step. */
  recount(session: Session, before: CountedState): void;
  /** False: the table is full. Evicts a disconnected session if that helps. */
  makeSpace(): boolean;
  /** Reserves a place for a session that is being fetched, until the returned function is called. */
  reservePlace(): () => void;
  /** Why this tenant may open no further session now, if so. Evicts a disconnected session if that helps. */
  refusalFor(tenantId: TenantId): SessionsFull | undefined;
  /** The same for the tenant's own cap, without an eviction. */
  capRefusal(tenantId: TenantId): SessionsFull | undefined;
  /** Number of tenants whose sessions are counted. */
  tenants(): number;
  /** Evicts a disconnected session if there are too many bytes of results, first of a tenant above its part. */
  trimResults(): void;
  connected(): number;
  /** Of connected sessions. */
  languageUses(): LanguageUses;
  /** Bytes of results that wait or are kept, of all sessions. */
  resultBytes(): number;
}

export function createSessionTable(deps: {
  readonly maxSessions: number;
  readonly maxResultBytes: number;
  readonly evict: (session: Session) => void;
  /** Absent: no tenant has a cap. */
  readonly tenantCaps?: TenantSessionCaps | undefined;
}): SessionTable {
  const { tenantCaps } = deps;
  const sessions = new Map<SessionId, Session>();
  const pages = createSessionPages(sessions);
  /** Sessions without a client, in order of disconnection. */
  const absent = new Set<Session>();
  const languages = createLanguageCount();
  let connected = 0;
  let reservedPlaces = 0;
  let resultBytes = 0;

  function noteConnection(session: Session, isConnected: boolean): void {
    connected += isConnected ? 1 : -1;
    if (isConnected || session.phase === 'ended') {
      absent.delete(session);
      tenantCaps?.reconnected(session);
    } else {
      absent.add(session);
      tenantCaps?.disconnected(session);
    }
  }

  function makeSpace(): boolean {
    if (sessions.size + reservedPlaces < deps.maxSessions) return true;
    evictOne();
    return sessions.size + reservedPlaces < deps.maxSessions;
  }

  function capRefusal(tenantId: TenantId): SessionsFull | undefined {
    if (tenantCaps?.isFull(tenantId) !== true) return undefined;
    tenantCaps.reached(tenantId);
    return { kind: 'full', limit: 'tenant', detail: tenantCaps.explain(tenantId) };
  }

  /** Evicts a session of the same tenant only. */
  function evictForTenant(tenantId: TenantId): void {
    if (tenantCaps === undefined || tenantCaps.isBelowCap(tenantId)) return;
    const longest = tenantCaps.longestDisconnected(tenantId);
    if (longest !== undefined) deps.evict(longest);
  }

  /** Connected clients have priority: the session that has been disconnected longest is evicted. */
  function evictOne(): void {
    const [longest] = absent;
    if (longest !== undefined) deps.evict(longest);
  }

  return {
    sessions,
    add(session) {
      sessions.set(session.sessionId, session);
      pages.add(session.sessionId);
      tenantCaps?.add(session);
      // A session from another instance has results already.
      resultBytes += resultBytesOf(session);
      tenantCaps?.setResultBytes(session, resultBytesOf(session));
    },
    remove(session) {
      absent.delete(session);
      if (sessions.get(session.sessionId) !== session) return false;
      pages.remove(session.sessionId);
      tenantCaps?.remove(session);
      return sessions.delete(session.sessionId);
    },
    countedState: (session) => ({
      isConnected: session.link !== undefined,
      opening: session.opening,
      resultBytes: resultBytesOf(session),
    }),
    recount(session, before) {
      const isConnected = session.link !== undefined;
      if (isConnected !== before.isConnected) noteConnection(session, isConnected);
      if (isConnected !== before.isConnected || session.opening !== before.opening) {
        if (before.isConnected) languages.count(before.opening.speech, -1);
        if (isConnected) languages.count(session.opening.speech, 1);
      }
      resultBytes += resultBytesOf(session) - before.resultBytes;
      tenantCaps?.setResultBytes(session, resultBytesOf(session));
    },
    makeSpace,
    reservePlace() {
      reservedPlaces += 1;
      return () => {
        reservedPlaces -= 1;
      };
    },
    refusalFor(tenantId) {
      evictForTenant(tenantId);
      return capRefusal(tenantId) ?? (makeSpace() ? undefined : INSTANCE_FULL);
    },
    capRefusal,
    tenants: () => tenantCaps?.tenants() ?? 0,
    trimResults() {
      const overfull = tenantCaps?.overfull();
      if (overfull?.longest !== undefined) deps.evict(overfull.longest);
      // The sessions of the other tenants stay: they are within their part.
      else if (overfull === undefined && resultBytes > deps.maxResultBytes) evictOne();
    },
    connected: () => connected,
    languageUses: languages.uses,
    resultBytes: () => resultBytes,
    page: pages.page,
  };
}

/** An ended session has no results. */
const resultBytesOf = ({ phase, delivery }: Session): number =>
  phase === 'ended' ? 0 : delivery.pending.bytes + delivery.keptBytes;

export const INSTANCE_FULL: SessionsFull = {
  kind: 'full',
  limit: 'instance',
  detail: 'this instance cannot hold more sessions (session.max_sessions)',
};
