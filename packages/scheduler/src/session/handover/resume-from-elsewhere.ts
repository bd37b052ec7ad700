/** Cold path: a client comes to this instance for a session of another one. Gets hold of the session, and of what became of its utterances. */
import type { JobRecord } from '../../domain/job.ts';
import type { Clock } from '../../ports/clock.ts';
import type { IdSource } from '../../ports/id-source.ts';
import type { Log } from '../../ports/log.ts';
import type { SavedSession } from '../../ports/session-store.ts';
import type { Opening, Session, Utterance } from '../session.ts';
import type { Elsewhere } from '../session-service.ts';
import { SHARED_TTL_MS } from './session-saver.ts';

export type Fetched =
  /** Ours from here on. `isComplete`: the owner before has saved all it knew. */
  | { readonly kind: 'fetched'; readonly saved: SavedSession; readonly isComplete: boolean }
  | { readonly kind: 'none' | 'unavailable' };

export interface SessionFetcher {
  fetch(resume: NonNullable<Opening['resume']>, tenantId: string): Promise<Fetched>;
  /** Reads what became of its utterances, in their order; ends with the last, or when it has taken too long. */
  readJobs(session: Session, found: (utterance: Utterance, job: JobRecord) => void): Promise<void>;
}

/** An owner that does not answer by then is taken for dead; the comparison decides. */
const RELEASE_LIMIT_MS = 1_500;
/** Others that come for the same session at the same time. */
const MAX_TRIES = 3;
/** Records under way at once: each may carry speech. */
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

  /** Undefined: it did not come in time, or at all. */
  function withinLimit<T>(asked: Promise<T>, limitMs: number): Promise<T | undefined> {
    return new Promise((resolve) => {
      const end = (value: T | undefined) => {
        cancel();
        resolve(value);
      };
      const cancel = clock.after(limitMs, () => resolve(undefined));
      asked.then(end, () => end(undefined));
    });
  }

  const pause = (ms: number) => new Promise<void>((resolve) => clock.after(ms, resolve));

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
      !isOwn && (await withinLimit(elsewhere.release(stored.owner, sessionId), RELEASE_LIMIT_MS)) === true;
    const taken = await store.take(sessionId, self, stored.owner, SHARED_TTL_MS);
    if (taken.kind === 'taken') return { kind: 'fetched', saved: taken.state, isComplete };
    return taken.kind === 'lost' ? 'lost' : NONE;
  }

  /** Undefined: there is none, or nobody knows. */
  async function read({ jobId }: Utterance, until: number): Promise<JobRecord | undefined> {
    for (;;) {
      try {
        return await records.get(jobId);
      } catch {
        if (clock.now() >= until) return undefined;
        await pause(READ_RETRY_MS);
      }
    }
  }

  return {
    async fetch(resume, tenantId) {
      try {
        for (let tries = 0; tries < MAX_TRIES; tries++) {
          const result = await tryToTake(resume, tenantId);
          if (result !== 'lost') return result;
        }
        // It is there, and others have it in turns: whoever comes again finds who has it in the end.
        return UNAVAILABLE;
      } catch (fault) {
        log.warn({ session_id: resume.sessionId, err: fault }, 'a session could not be looked for');
        return UNAVAILABLE;
      }
    },

    async readJobs(session, found) {
      const until = clock.now() + RECALL_LIMIT_MS;
      const unsettled = session.delivery.waiting.filter(({ isSettled }) => !isSettled);
      const reading: Promise<JobRecord | undefined>[] = [];
      for (const [at, utterance] of unsettled.entries()) {
        while (reading.length < Math.min(at + READ_AHEAD, unsettled.length))
          reading.push(read(unsettled[reading.length] as Utterance, until));
        // In their order, or a late one would look like a gap before many that are ready.
        const job = await withinLimit(
          reading[at] ?? Promise.resolve(undefined),
          Math.max(0, until - clock.now()),
        );
        if (job !== undefined) found(utterance, job);
      }
    },
  };
}

const NONE = { kind: 'none' } as const;
const UNAVAILABLE = { kind: 'unavailable' } as const;
