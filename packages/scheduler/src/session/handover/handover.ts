/** Cold path: handover of sessions between instances. Resumes sessions of other instances and releases own ones. */
import type { SessionId } from '../../domain/ids.ts';
import type { Clock } from '../../ports/clock.ts';
import type { IdSource } from '../../ports/id-source.ts';
import type { Log } from '../../ports/log.ts';
import { INSTANCE_FULL, type SessionTable } from '../connection/session-table.ts';
import type { SessionEvent } from '../event.ts';
import type { JobWatch } from '../outcomes/job-watch.ts';
import type { PlanWatch } from '../outcomes/plan-watch.ts';
import { allOf, type Opening, type Session, type Utterance } from '../session.ts';
import type { Elsewhere, SessionsFull } from '../session-service.ts';
import { resumePlan } from '../speech/build-job.ts';
import type { SessionSettings, StepTools } from '../step-context.ts';
import { createSessionFetcher } from './resume-from-elsewhere.ts';
import { noteChange, rebuild } from './saved-state.ts';
import type { SessionSaver } from './session-saver.ts';

export type ResumeResult =
  | { readonly kind: 'resumed'; readonly session: Session }
  | { readonly kind: 'none' }
  | SessionsFull
  | { readonly kind: 'unavailable' };

export interface Handover {
  /** Undefined: the session is new, or on this instance. */
  resumeSession(opening: Opening): Promise<ResumeResult> | undefined;
  release(sessionId: SessionId): Promise<boolean>;
  /** Handovers in progress fail. */
  abandon(): void;
}

/** A dead owner may have used this many utterance indexes without saving them. */
const unsavedIndexes = ({ maxUtterances }: SessionSettings): number => 2 * maxUtterances + 1;

export function createHandover(deps: {
  readonly elsewhere: Elsewhere;
  readonly saver: SessionSaver;
  readonly watch: JobWatch;
  readonly planWatch: Pick<PlanWatch, 'run'>;
  readonly ids: Pick<IdSource, 'digest'>;
  readonly clock: Clock;
  readonly log: Log;
  readonly sessionTable: SessionTable;
  readonly tools: StepTools;
  readonly post: (session: Session, event: SessionEvent) => void;
}): Handover {
  const { saver, watch, planWatch, clock, sessionTable, tools, post } = deps;
  const fetcher = createSessionFetcher(deps);
  /** Handovers by session; a second one waits for the first. */
  const inProgress = new Map<SessionId, Promise<unknown>>();
  let epoch = 0;

  function trackProgress<T>(sessionId: SessionId, moving: Promise<T>): Promise<T> {
    inProgress.set(sessionId, moving);
    const done = () => {
      if (inProgress.get(sessionId) === moving) inProgress.delete(sessionId);
    };
    moving.then(done, done);
    return moving;
  }

  async function fetch(opening: Opening, resume: NonNullable<Opening['resume']>): Promise<ResumeResult> {
    const begun = epoch;
    // It counts against its tenant's cap already: only this instance needs space.
    if (!sessionTable.makeSpace()) return INSTANCE_FULL;
    const releasePlace = sessionTable.reservePlace();
    const fetched = await fetcher.fetch(resume, opening.tenantId);
    releasePlace();
    if (begun !== epoch) return UNAVAILABLE;
    if (fetched.kind !== 'fetched') return fetched.kind === 'none' ? NONE : UNAVAILABLE;
    const session = rebuild(fetched.saved, opening, {
      at: clock.now(),
      skipped: fetched.isComplete ? 0 : unsavedIndexes(tools.settings),
    });
    sessionTable.add(session);
    await fetcher.readJobs(session, (utterance, job) => post(session, { kind: 'job_read', utterance, job }));
    // Abandoned with all sessions, or taken by another instance during the reads.
    if (session.phase === 'ended') return UNAVAILABLE;
    for (const utterance of [...session.delivery.waiting]) {
      if (utterance.rendition === undefined) watch.follow(session, utterance);
      else if (isFirstLeft(session, utterance))
        planWatch.run(session, utterance, resumePlan(tools, session, utterance));
    }
    return { kind: 'resumed', session };
  }

  async function resumeAfter(opening: Opening, earlier: Promise<unknown>): Promise<ResumeResult> {
    await earlier.catch(() => {});
    return resumeSession(opening) ?? NONE;
  }

  function resumeSession(opening: Opening): Promise<ResumeResult> | undefined {
    const { resume } = opening;
    if (resume === undefined) return undefined;
    const moving = inProgress.get(resume.sessionId);
    if (moving !== undefined) return resumeAfter(opening, moving);
    if (sessionTable.sessions.has(resume.sessionId)) return undefined;
    return trackProgress(resume.sessionId, fetch(opening, resume));
  }

  async function releaseSession(session: Session): Promise<boolean> {
    post(session, { kind: 'depart', why: 'released' });
    // Even if nothing changed: a failover may have lost the saved state, and the reply says that it is complete.
    noteChange(session, 'now');
    const isSaved = await saver.flush(session);
    saver.drop(session);
    return isSaved;
  }

  return {
    resumeSession,
    async release(sessionId) {
      await inProgress.get(sessionId)?.catch(() => {});
      const session = sessionTable.sessions.get(sessionId);
      // Released before: a later owner may have used indexes that a failover lost, so its state may be incomplete.
      if (session === undefined) return false;
      // It is closing and cannot be resumed.
      if (!session.isShared) return false;
      return trackProgress(sessionId, releaseSession(session));
    },
    abandon() {
      epoch += 1;
    },
  };
}

/** One plan serves all outcomes of an utterance; some may have been delivered. */
const isFirstLeft = ({ delivery }: Session, utterance: Utterance): boolean =>
  allOf(utterance).find((one) => delivery.waiting.includes(one)) === utterance;

const NONE = { kind: 'none' } as const;
const UNAVAILABLE = { kind: 'unavailable' } as const;
