/** Sessions of instances that share one process: for the simulator and for tests, and the readable specification of the Redis one. */
import type { SessionId } from '../../domain/ids.ts';
import type { Clock } from '../../ports/clock.ts';
import type { SavedSession, SessionStore, StoredSession } from '../../ports/session-store.ts';

interface Held extends StoredSession {
  readonly expiresAt: number;
}

export function createSessionStore(deps: { clock: Clock }): SessionStore & { size(): number } {
  const { clock } = deps;
  const sessions = new Map<SessionId, Held>();

  function find(sessionId: SessionId): Held | undefined {
    const held = sessions.get(sessionId);
    if (held === undefined || held.expiresAt > clock.now()) return held;
    sessions.delete(sessionId);
    return undefined;
  }

  function put(state: SavedSession, owner: string, ttlMs: number): void {
    sessions.set(state.sessionId, { state, owner, expiresAt: clock.now() + ttlMs });
  }

  return {
    async save(state, owner, ttlMs) {
      const held = find(state.sessionId);
      if (held !== undefined && held.owner !== owner) return 'lost';
      const isLate = held !== undefined && held.state.revision > state.revision;
      // A copy: whoever saves goes on changing what it has.
      if (!isLate) put(structuredClone(state), owner, ttlMs);
      return 'saved';
    },
    async load(sessionId) {
      const held = find(sessionId);
      return held && { owner: held.owner, state: structuredClone(held.state) };
    },
    async take(sessionId, owner, from, ttlMs) {
      const held = find(sessionId);
      if (held === undefined) return { kind: 'absent' };
      if (held.owner !== from && held.owner !== owner) return { kind: 'lost' };
      put(held.state, owner, ttlMs);
      return { kind: 'taken', state: structuredClone(held.state) };
    },
    async touch(asked, owner, ttlMs) {
      const lost: SessionId[] = [];
      const stale: SessionId[] = [];
      for (const { sessionId, revision } of asked) {
        const held = find(sessionId);
        if (held === undefined) stale.push(sessionId);
        else if (held.owner !== owner) lost.push(sessionId);
        else {
          if (held.state.revision < revision) stale.push(sessionId);
          put(held.state, owner, ttlMs);
        }
      }
      return { lost, stale };
    },
    async remove(sessionId, owner) {
      const held = find(sessionId);
      if (held !== undefined && held.owner !== owner) return 'lost';
      sessions.delete(sessionId);
      return 'removed';
    },
    size: () => sessions.size,
  };
}
