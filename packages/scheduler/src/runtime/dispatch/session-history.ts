/** Hot path: which nodes got the last utterances of each session. Bounded: a dropped entry only costs some spreading. */
import type { NodeId, SessionId } from '../../domain/ids.ts';

interface Visits {
  lastNodeId: NodeId;
  lastAt: number;
  /** The highest of all nodes, also of dropped ones. */
  latest: number;
  /** The highest utterance each node got, most recent node last. */
  readonly highest: Map<NodeId, number>;
}

export interface SessionHistory {
  note(sessionId: SessionId, nodeId: NodeId, utteranceIndex: number, now: number): void;
  /** The last node of the session, if used within the window. */
  lastNode(sessionId: SessionId, now: number, windowMs: number): NodeId | undefined;
  /** Nodes that got a later utterance of the session: legacy nodes return an earlier one without translation. */
  sawLater(sessionId: SessionId, utteranceIndex: number): readonly NodeId[];
}

const MAX_NODES_PER_SESSION = 16;
const NONE: readonly NodeId[] = [];

/** `keepMs`: no utterance of a session is in flight for longer than this after the last one was sent. */
export function createSessionHistory(settings: { maxSessions: number; keepMs: number }): SessionHistory {
  const sessions = new Map<SessionId, Visits>();

  function dropOld(before: number): void {
    for (const [sessionId, { lastAt }] of sessions) {
      if (sessions.size <= settings.maxSessions && lastAt >= before) return;
      sessions.delete(sessionId);
    }
  }

  return {
    note(sessionId, nodeId, utteranceIndex, now) {
      const visits = sessions.get(sessionId) ?? {
        lastNodeId: nodeId,
        lastAt: now,
        latest: -1,
        highest: new Map(),
      };
      // Deleted and set again: a Map keeps insertion order, so the first entry is the one longest unused.
      sessions.delete(sessionId);
      sessions.set(sessionId, visits);
      visits.lastNodeId = nodeId;
      visits.lastAt = now;
      visits.latest = Math.max(visits.latest, utteranceIndex);
      const seen = visits.highest.get(nodeId) ?? -1;
      visits.highest.delete(nodeId);
      visits.highest.set(nodeId, Math.max(seen, utteranceIndex));
      dropFirst(visits.highest, MAX_NODES_PER_SESSION);
      dropOld(now - settings.keepMs);
    },

    lastNode(sessionId, now, windowMs) {
      const visits = sessions.get(sessionId);
      return visits !== undefined && now - visits.lastAt < windowMs ? visits.lastNodeId : undefined;
    },

    sawLater(sessionId, utteranceIndex) {
      const visits = sessions.size === 0 ? undefined : sessions.get(sessionId);
      // Nearly always this is the latest utterance.
      if (visits === undefined || visits.latest <= utteranceIndex) return NONE;
      let later: NodeId[] | undefined;
      for (const [nodeId, highest] of visits.highest) {
        if (highest <= utteranceIndex) continue;
        later ??= [];
        later.push(nodeId);
      }
      return later ?? NONE;
    },
  };
}

function dropFirst(map: Map<unknown, unknown>, max: number): void {
  if (map.size <= max) return;
  for (const key of map.keys()) {
    map.delete(key);
    return;
  }
}
