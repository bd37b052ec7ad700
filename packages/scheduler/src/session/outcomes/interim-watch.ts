/** Runs the jobs for texts while somebody speaks: a recognition and a translation per session, without a retry, cancelled when the utterance ends. */
import type { JobId } from '../../domain/ids.ts';
import { isSettled, type JobRecord } from '../../domain/job.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import type { SessionEffect, SessionEvent } from '../event.ts';
import type { Session } from '../session.ts';
import type { JobDispatcher } from '../session-service.ts';

export interface InterimWatch {
  run(session: Session, effect: Extract<SessionEffect, { kind: 'interim' }>): void;
  /** The jobs of the session are not needed any more. */
  cancel(session: Session): void;
  moved(job: JobRecord): void;
  size(): number;
}

interface Watched {
  readonly session: Session;
  readonly isTranslation: boolean;
  readonly end: (text: string) => void;
}

/** If another instance took the job over, this one does not hear of its end. */
const GIVE_UP_MS = 6_000;

export function createInterimWatch(deps: {
  readonly jobs: Pick<JobDispatcher, 'dispatch' | 'cancel'>;
  readonly clock: Clock;
  readonly log: Log;
  readonly post: (session: Session, event: SessionEvent) => void;
  /** The result was read for the last time. */
  readonly delivered: ((jobId: JobId) => void) | undefined;
}): InterimWatch {
  const { jobs, clock, log, post, delivered } = deps;
  const watched = new Map<JobId, Watched>();
  const jobsOf = new Map<Session, Set<JobId>>();

  function forget(jobId: JobId): void {
    const session = watched.get(jobId)?.session;
    watched.delete(jobId);
    const own = session && jobsOf.get(session);
    own?.delete(jobId);
    if (session !== undefined && own?.size === 0) jobsOf.delete(session);
  }

  function moved(job: JobRecord): void {
    const { jobId, state, result } = job;
    const waiting = watched.get(jobId);
    if (waiting === undefined || !isSettled(state)) return;
    forget(jobId);
    delivered?.(jobId);
    waiting.end((waiting.isTranslation ? result?.textTranslated : result?.textAsr) ?? '');
  }

  return {
    run(session, { firstSeq, request, translation }) {
      let isOver = false;
      const end = (text: string): void => {
        if (isOver) return;
        isOver = true;
        cancelTimer();
        post(session, { kind: 'interim_text', firstSeq, text, translation });
      };
      let known: JobId | undefined;
      const cancelTimer = clock.after(GIVE_UP_MS, () => {
        if (known !== undefined) forget(known);
        end('');
      });
      const admitted = (job: JobRecord): void => {
        known = job.jobId;
        watched.set(job.jobId, { session, isTranslation: translation !== undefined, end });
        jobsOf.set(session, (jobsOf.get(session) ?? new Set()).add(job.jobId));
      };
      Promise.resolve()
        .then(() => jobs.dispatch({ ...request, admitted }))
        .then((outcome) => {
          if (outcome.kind === 'refused') end('');
          else moved(outcome.job);
        })
        .catch((fault: unknown) => {
          log.warn({ session_id: session.sessionId, err: fault }, 'could not ask for a text so far');
          end('');
        });
    },
    cancel(session) {
      for (const jobId of [...(jobsOf.get(session) ?? [])]) {
        forget(jobId);
        jobs
          .cancel(jobId, 'the utterance has ended', 'JOB_CANCELLED')
          .catch((fault: unknown) => log.warn({ job_id: jobId, err: fault }, 'could not cancel a job'));
      }
    },
    moved,
    size: () => watched.size,
  };
}
