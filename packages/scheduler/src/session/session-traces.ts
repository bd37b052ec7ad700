/** Hot path when traces are asked for, unused otherwise: what a tracer is told of a session's utterances. */
import type { Clock } from '../ports/clock.ts';
import type { Tracer } from '../ports/tracer.ts';
import type { Delivered } from './outcomes/delivery.ts';
import type { Session, Utterance } from './session.ts';

export interface SessionTraces {
  /** An outcome has left, in its order. */
  outcomeDelivered(session: Session, delivered: Delivered<Utterance>, at: number): void;
  /** Nobody will hear of the rest. */
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
    // Their jobs are traced, and would have nobody above them.
    ended(session) {
      const endedAt = clock.now();
      for (const utterance of session.delivery.waiting) {
        tracer.utteranceEnded({ ...named(session, utterance), endedAt, outcome: 'unheard' });
      }
    },
  };
}
