/** Cold path: fetches a session of another instance for a client that resumes it here, and reads the records of its jobs. */
import type { JobRecord } from '../../domain/job.ts';
import { retry } from '../../domain/retry.ts';
import { withTimeout } from '../../domain/with-timeout.ts';
import type { Clock } from '../../ports/clock.ts';
import type { IdSource } from '../../ports/id-source.ts';
import type { Log } from '../../ports/log.ts';
import type { SavedSession } from '../../ports/session-store.ts';
import type { Opening, Session, Utterance } from '../session.ts';
import type { Elsewhere } from '../session-service.ts';
import { SHARED_TTL_MS } from './session-saver.ts';

export type Fetched =
  /** This instance owns it now. `isComplete`: the previous owner saved all of it. */
  | { readonly kind: 'fetched'; readonly saved: SavedSession; readonly isComplete: boolean }
  | { readonly kind: 'none' | 'unavailable' };

export interface SessionFetcher {
  fetch(resume: NonNullable<Opening['resume']>, tenantId: string): Promise<Fetched>;
  /** Reads the job records of its utterances in order. Resolves after the last one, or at the limit. */
  readJobs(session: Session, found: (utterance: Utterance, job: JobRecord) => void): Promise<void>;
}

/** An owner that does not reply by then is treated as dead; the compare-and-set of `take` decides. */
const RELEASE_LIMIT_MS = 1_500;
/** Other instances may take the same session at the same time. */
const MAX_TRIES = 3;
/** Concurrent reads; each record may contain speech. */
const READ_AHEAD = 8;
const RECALL_LIMIT_MS = 2_000;
const READ_RETRY_MS = 100;

export function createSessionFetcher(deps: {
  readonly elsewhere: Elsewhere;
  readonly ids: Pick<IdSource, 'digest'>;
  readonly clock: Clock;
  readonly log: Log;
}): SessionFetcher {
  const { elsewhere, ids, clock, log } = deps;
  const { store, owner, records } = elsewhere;

  /** Undefined: it failed, or took too long. */
  const withinLimit = <T>(limitMs: number, what: string, call: () => Promise<T>): Promise<T | undefined> =>
    withTimeout(clock, limitMs, what, call).catch(() => undefined);

  async function tryToTake(
    { sessionId, token }: NonNullable<Opening['resume']>,
    tenantId: string,
  ): Promise<Fetched | 'lost'> {
    const stored = await store.load(sessionId);
    const isProven =
      stored !== undefined &&
      stored.state.tenantId === tenantId &&
      stored.state.resumeDigest === ids.digest(token);
    if (!isProven) return NONE;
    const self = owner();
    const isOwn = stored.owner === self;
    const isComplete =
      !isOwn &&
      (await withinLimit(RELEASE_LIMIT_MS, 'release of a session', () =>
        elsewhere.release(stored.owner, sessionId),
      )) === true;
    const taken = await store.take(sessionId, self, stored.owner, SHARED_TTL_MS);
    if (taken.kind === 'taken') return { kind: 'fetched', saved: taken.state, isComplete };
    return taken.kind === 'lost' ? 'lost' : NONE;
  }

  /** Undefined: there is none, or the store cannot be read. */
  const read = ({ jobId }: Utterance, until: number): Promise<JobRecord | undefined> =>
    retry(clock, { delayMs: READ_RETRY_MS, isWanted: () => clock.now() < until }, () => records.get(jobId));

  return {
    async fetch(resume, tenantId) {
      try {
        for (let tries = 0; tries < MAX_TRIES; tries++) {
          const result = await tryToTake(resume, tenantId);
          if (result !== 'lost') return result;
        }
        // It exists, and other instances keep taking it: the client tries again later.
        return UNAVAILABLE;
      } catch (fault) {
        log.warn({ session_id: resume.sessionId, err: fault }, 'could not read a session to resume');
        return UNAVAILABLE;
      }
    },

    async readJobs(session, found) {
      const until = clock.now() + RECALL_LIMIT_MS;
      const unsettled = session.delivery.waiting.filter(
        ({ isSettled, rendition }) => !isSettled && rendition === undefined,
      );
      const reading: Promise<JobRecord | undefined>[] = [];
      for (const [at, utterance] of unsettled.entries()) {
        while (reading.length < Math.min(at + READ_AHEAD, unsettled.length))
          reading.push(read(unsettled[reading.length] as Utterance, until));
        // In order: otherwise a slow read would look like a gap before many ready outcomes.
        const job = await withinLimit(
          Math.max(0, until - clock.now()),
          'record of a job',
          () => reading[at] ?? Promise.resolve(undefined),
        );
        if (job !== undefined) found(utterance, job);
      }
    },
  };
}

const NONE = { kind: 'none' } as const;
const UNAVAILABLE = { kind: 'unavailable' } as const;
