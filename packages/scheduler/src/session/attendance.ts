/** Hot path: which sessions there are, which of them have a client, and what their results weigh together. */
import type { SessionId } from '../domain/ids.ts';
import { createLanguageCount, type LanguageUses } from './language-use.ts';
import { createRoster, type Roster } from './roster.ts';
import type { Opening, Session } from './session.ts';

/** How a session counted before a step. */
export interface Noted {
  readonly isConnected: boolean;
  readonly opening: Opening;
  readonly resultBytes: number;
}

export interface Attendance extends Pick<Roster, 'page'> {
  readonly sessions: ReadonlyMap<SessionId, Session>;
  add(session: Session): void;
  /** False: it was gone before. */
  remove(session: Session): boolean;
  noted(session: Session): Noted;
  /** Counts what a step has changed. */
  note(session: Session, before: Noted): void;
  /** Makes room if there is none and it can. */
  hasRoom(): boolean;
  evictOne(): void;
  connected(): number;
  /** Of those that are connected. */
  languageUses(): LanguageUses;
  /** Of results that wait or are kept, of all sessions. */
  resultBytes(): number;
}

export function createAttendance(deps: {
  readonly maxSessions: number;
  readonly evict: (session: Session) => void;
}): Attendance {
  const sessions = new Map<SessionId, Session>();
  const roster = createRoster(sessions);
  /** Waited for, in the order in which they left. */
  const absent = new Set<Session>();
  const languages = createLanguageCount();
  let connected = 0;
  let resultBytes = 0;

  function noteConnection(session: Session, isConnected: boolean): void {
    connected += isConnected ? 1 : -1;
    if (isConnected || session.phase === 'ended') absent.delete(session);
    else absent.add(session);
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
      roster.add(session.sessionId);
      // One that comes from elsewhere brings something with it.
      resultBytes += resultBytesOf(session);
    },
    remove(session) {
      absent.delete(session);
      if (sessions.get(session.sessionId) !== session) return false;
      roster.remove(session.sessionId);
      return sessions.delete(session.sessionId);
    },
    noted: (session) => ({
      isConnected: session.link !== undefined,
      opening: session.opening,
      resultBytes: resultBytesOf(session),
    }),
    note(session, before) {
      const isConnected = session.link !== undefined;
      if (isConnected !== before.isConnected) noteConnection(session, isConnected);
      if (isConnected !== before.isConnected || session.opening !== before.opening) {
        if (before.isConnected) languages.count(before.opening.speech, -1);
        if (isConnected) languages.count(session.opening.speech, 1);
      }
      resultBytes += resultBytesOf(session) - before.resultBytes;
    },
    hasRoom() {
      if (sessions.size < deps.maxSessions) return true;
      evictOne();
      return sessions.size < deps.maxSessions;
    },
    evictOne,
    connected: () => connected,
    languageUses: languages.uses,
    resultBytes: () => resultBytes,
    page: roster.page,
  };
}

/** Nothing of one that has ended is left. */
const resultBytesOf = ({ phase, delivery }: Session): number =>
  phase === 'ended' ? 0 : delivery.pending.bytes + delivery.keptBytes;
