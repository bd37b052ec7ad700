/** Hot path when traces are on, unused otherwise: reports the utterances of a session to the tracer. */
import type { Clock } from '../ports/clock.ts';
import type { Tracer } from '../ports/tracer.ts';
import type { Delivered } from './outcomes/delivery.ts';
import type { Session, Utterance } from './session.ts';

export interface SessionTraces {
  outcomeDelivered(session: Session, delivered: Delivered<Utterance>, at: number): void;
  /** The remaining utterances will have no delivered outcome. */
  ended(session: Session): void;
}

export function createSessionTraces({ tracer, clock }: { tracer: Tracer; clock: Clock }): SessionTraces {
  const named = (session: Session, utterance: Utterance) => ({
    traceId: utterance.traceId,
    tenantId: session.tenantId,
    sessionId: session.sessionId,
    index: utterance.index,
    jobId: utterance.jobId,
    startedAt: utterance.startedAt,
    acceptedAt: utterance.acceptedAt,
  });

  return {
    outcomeDelivered(session, { utterance, outcome, deliverySeq }, at) {
      tracer.utteranceEnded({
        ...named(session, utterance),
        readyAt: utterance.readyAt,
        endedAt: at,
        outcome: outcome.kind === 'result' ? 'result' : outcome.reason,
        deliverySeq,
      });
    },
    // The spans of their jobs need a parent.
    ended(session) {
      const endedAt = clock.now();
      for (const utterance of session.delivery.waiting) {
        tracer.utteranceEnded({ ...named(session, utterance), endedAt, outcome: 'unheard' });
      }
    },
  };
}
