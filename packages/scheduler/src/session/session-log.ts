/**
 * Hot path: what happened in the sessions of this instance, also in ended ones: ids, times and codes, never texts. For operators; the newest
 * entries of all sessions together are kept, so that its size does not grow with the sessions (I11). Lost at a restart.
 */
import type { JobId, SessionId, TenantId } from '../domain/ids.ts';
import type { SessionEffect, SessionEvent } from './event.ts';
import type { SessionOutput } from './output.ts';
import type { Session, Utterance } from './session.ts';

export type LoggedKind =
  | 'opened'
  | 'resumed'
  | 'disconnected'
  | 'accepted'
  | 'partial'
  | 'delivered'
  | 'missing'
  | 'playback_started'
  | 'playback_ended'
  | 'backpressure'
  | 'closed';

export interface LoggedEvent {
  readonly sessionId: SessionId;
  readonly tenantId: TenantId;
  readonly at: number;
  readonly kind: LoggedKind;
  readonly index?: number | undefined;
  readonly jobId?: JobId | undefined;
  /** A code or an id. */
  readonly detail?: string | undefined;
}

export interface SessionLog {
  noteEvent(session: Session, event: SessionEvent, at: number): void;
  noteEffect(session: Session, effect: SessionEffect, at: number): void;
  /** Oldest first. */
  of(sessionId: SessionId): readonly LoggedEvent[];
}

/** About ten megabytes. */
const MAX_ENTRIES = 50_000;

type Noted = Omit<LoggedEvent, 'sessionId' | 'tenantId' | 'at'>;

export function createSessionLog(maxEntries = MAX_ENTRIES): SessionLog {
  const ring: LoggedEvent[] = [];
  /** Where the next entry goes, once the ring is full: the place of the oldest. */
  let next = 0;
  /** Only the first partial text of an utterance is noted: there are many. */
  const withPartial = new WeakSet<Utterance>();

  function add({ sessionId, tenantId }: Session, at: number, noted: Noted | undefined): void {
    if (noted === undefined) return;
    ring[next] = { sessionId, tenantId, at, ...noted };
    next = (next + 1) % maxEntries;
  }

  function ofEvent(event: SessionEvent): Noted | undefined {
    switch (event.kind) {
      case 'attached':
        return event.isResumed || event.hasMoved
          ? { kind: 'resumed', detail: event.hasMoved ? 'moved' : undefined }
          : { kind: 'opened' };
      case 'detached':
        return { kind: 'disconnected' };
      case 'playback_started':
      case 'playback_ended':
        return { kind: event.kind, detail: event.groupId };
      case 'partial': {
        const { utterance } = event;
        if (withPartial.has(utterance)) return undefined;
        withPartial.add(utterance);
        return { kind: 'partial', index: utterance.index, jobId: utterance.jobId };
      }
      default:
        return undefined;
    }
  }

  function ofOutput(output: SessionOutput): Noted | undefined {
    switch (output.kind) {
      case 'accepted':
        return { kind: 'accepted', index: output.utterance.index, jobId: output.utterance.jobId };
      case 'outcome': {
        const { utterance, outcome } = output.delivered;
        const about = { index: utterance.index, jobId: utterance.jobId };
        return outcome.kind === 'result'
          ? { kind: 'delivered', ...about }
          : { kind: 'missing', ...about, detail: outcome.reason };
      }
      case 'pressure':
        return { kind: 'backpressure', detail: output.action };
      default:
        return undefined;
    }
  }

  return {
    noteEvent: (session, event, at) => add(session, at, ofEvent(event)),
    noteEffect(session, effect, at) {
      if (effect.kind === 'send') add(session, at, ofOutput(effect.output));
      else if (effect.kind === 'end') add(session, at, { kind: 'closed', detail: effect.reason });
    },
    of: (sessionId) =>
      [...ring.slice(next), ...ring.slice(0, next)].filter((entry) => entry.sessionId === sessionId),
  };
}
