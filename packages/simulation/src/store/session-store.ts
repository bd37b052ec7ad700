/** Simulation: sessions that any instance can continue, each on its own shard. */
import type { SessionId } from '../../../scheduler/dist/domain/ids.js';
import type { SavedSession, SessionStore } from '../../../scheduler/dist/ports/session-store.js';
import type { Lines } from './servers/lines.ts';
import type { Shard } from './servers/shard.ts';
import { tags } from './servers/tags.ts';

export function createSessionStore({ lines }: { lines: Lines }): SessionStore {
  const on = <T>(sessionId: SessionId, what: string, run: (shard: Shard) => T): Promise<T> =>
    lines.ask(tags.session(sessionId), what, run);

  return {
    save(state, owner, ttlMs) {
      const { sessionId, revision } = state;
      const saved = asItIs(state);
      return on(sessionId, 'save-session', ({ state: { sessions }, now }) => {
        const held = sessions.get(sessionId, now());
        if (held !== undefined && held.owner !== owner) return 'lost';
        if (held !== undefined && held.state.revision > revision) return 'saved';
        sessions.put(sessionId, { owner, state: saved }, now() + ttlMs);
        return 'saved';
      });
    },

    load: (sessionId) =>
      on(sessionId, 'load-session', ({ state: { sessions }, now }) => sessions.get(sessionId, now())),

    take: (sessionId, owner, from, ttlMs) =>
      on(sessionId, 'take-session', ({ state: { sessions }, now }) => {
        const held = sessions.get(sessionId, now());
        if (held === undefined) return { kind: 'absent' };
        if (held.owner !== from && held.owner !== owner) return { kind: 'lost' };
        sessions.put(sessionId, { owner, state: held.state }, now() + ttlMs);
        return { kind: 'taken', state: held.state };
      }),

    async touch(asked, owner, ttlMs) {
      const words = await Promise.all(
        asked.map(({ sessionId, revision }) =>
          on(sessionId, 'touch-session', ({ state: { sessions }, now }) => {
            const held = sessions.get(sessionId, now());
            if (held !== undefined && held.owner !== owner) return 'lost';
            sessions.expire(sessionId, now() + ttlMs);
            return held === undefined || held.state.revision < revision ? 'stale' : 'kept';
          }),
        ),
      );
      const those = (word: string): SessionId[] =>
        asked.filter((_, at) => words[at] === word).map(({ sessionId }) => sessionId);
      return { lost: those('lost'), stale: those('stale') };
    },

    remove: (sessionId, owner) =>
      on(sessionId, 'remove-session', ({ state: { sessions }, now }) => {
        const held = sessions.get(sessionId, now());
        if (held !== undefined && held.owner !== owner) return 'lost';
        sessions.delete(sessionId);
        return 'removed';
      }),
  };
}

/** A copy, so that later changes by the owner do not affect it. */
const asItIs = (state: SavedSession): SavedSession => ({
  ...state,
  utterances: state.utterances.map((utterance) => ({ ...utterance })),
  groups: state.groups.map((group) => ({ ...group })),
});
