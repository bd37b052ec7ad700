/** Hot path: which sessions there are, which of them have a client, and what their results weigh together. */
import type { SessionId, TenantId } from '../../domain/ids.ts';
import type { Opening, Session } from '../session.ts';
import type { SessionsFull } from '../session-service.ts';
import { createLanguageCount, type LanguageUses } from './language-use.ts';
import { createSessionPages, type SessionPages } from './session-pages.ts';
import type { TenantSessionCaps } from './tenant-session-caps.ts';

/** How a session counted before a step. */
export interface CountedState {
  readonly isConnected: boolean;
  readonly opening: Opening;
  readonly resultBytes: number;
}

export interface SessionTable extends Pick<SessionPages, 'page'> {
  readonly sessions: ReadonlyMap<SessionId, Session>;
  add(session: Session): void;
  /** False: it was gone before. */
  remove(session: Session): boolean;
  countedState(session: Session): CountedState;
  /** Counts what a step has changed. */
  recount(session: Session, before: CountedState): void;
  /** Makes room if there is none and it can. */
  makeSpace(): boolean;
  /** One is on its way here, for which room is kept until this is called. */
  reservePlace(): () => void;
  /** Why this tenant may have no other session now, if so; makes room if it can. */
  refusalFor(tenantId: TenantId): SessionsFull | undefined;
  /** The same without making room, by what the tenant itself has. */
  capRefusal(tenantId: TenantId): SessionsFull | undefined;
  /** That are counted. */
  tenants(): number;
  evictOne(): void;
  connected(): number;
  /** Of those that are connected. */
  languageUses(): LanguageUses;
  /** Of results that wait or are kept, of all sessions. */
  resultBytes(): number;
}

export function createSessionTable(deps: {
  readonly maxSessions: number;
  readonly evict: (session: Session) => void;
  /** Absent: no tenant has a cap. */
  readonly tenantCaps?: TenantSessionCaps | undefined;
}): SessionTable {
  const { tenantCaps } = deps;
  const sessions = new Map<SessionId, Session>();
  const pages = createSessionPages(sessions);
  /** Waited for, in the order in which they left. */
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
    return { kind: 'full', limit: 'tenant', detail: tenantCaps.explain(tenantId) };
  }

  /** Its own, not another tenant's. */
  function evictForTenant(tenantId: TenantId): void {
    if (tenantCaps === undefined || tenantCaps.isBelowCap(tenantId)) return;
    const longest = tenantCaps.longestDisconnected(tenantId);
    if (longest !== undefined) deps.evict(longest);
  }

  /** Who is here matters more than who may come back: the one that has been away longest makes room. */
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
      // One that comes from elsewhere brings something with it.
      resultBytes += resultBytesOf(session);
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
    evictOne,
    connected: () => connected,
    languageUses: languages.uses,
    resultBytes: () => resultBytes,
    page: pages.page,
  };
}

/** Nothing of one that has ended is left. */
const resultBytesOf = ({ phase, delivery }: Session): number =>
  phase === 'ended' ? 0 : delivery.pending.bytes + delivery.keptBytes;

export const INSTANCE_FULL: SessionsFull = {
  kind: 'full',
  limit: 'instance',
  detail: 'this instance has no room for more sessions (session.max_sessions)',
};
