/** Cold path: sessions pass from one instance to another. Here they arrive, and from here they are let go. */
import type { SessionId } from '../../domain/ids.ts';
import type { Clock } from '../../ports/clock.ts';
import type { IdSource } from '../../ports/id-source.ts';
import type { Log } from '../../ports/log.ts';
import { INSTANCE_FULL, type SessionTable } from '../connection/session-table.ts';
import type { SessionEvent } from '../event.ts';
import type { JobWatch } from '../outcomes/job-watch.ts';
import type { Opening, Session } from '../session.ts';
import type { Elsewhere, SessionsFull } from '../session-service.ts';
import type { SessionSettings } from '../step-context.ts';
import { createArrivals } from './resume-from-elsewhere.ts';
import { noteChange, rebuild } from './saved-state.ts';
import type { SessionSaver } from './session-saver.ts';

export type Arrival =
  | { readonly kind: 'arrived'; readonly session: Session }
  | { readonly kind: 'none' }
  | SessionsFull
  | { readonly kind: 'unavailable' };

export interface Moves {
  /** Undefined: what is to be opened is here, or nowhere. */
  arrive(opening: Opening): Promise<Arrival> | undefined;
  release(sessionId: SessionId): Promise<boolean>;
  /** What is under way comes to nothing. */
  abandon(): void;
}

/** An owner that died may have used numbers that nobody knows of: as many as it may have had without saving them. */
const skippedBy = ({ maxUtterances }: SessionSettings): number => 2 * maxUtterances + 1;

export function createMoves(deps: {
  readonly elsewhere: Elsewhere;
  readonly saver: SessionSaver;
  readonly watch: JobWatch;
  readonly ids: Pick<IdSource, 'digest'>;
  readonly clock: Clock;
  readonly log: Log;
  readonly sessionTable: SessionTable;
  readonly settings: SessionSettings;
  readonly post: (session: Session, event: SessionEvent) => void;
}): Moves {
  const { saver, watch, clock, sessionTable, settings, post } = deps;
  const arrivals = createArrivals(deps);
  /** Coming or going: whoever else wants one of them comes after that. */
  const underWay = new Map<SessionId, Promise<unknown>>();
  let epoch = 0;

  function noteUnderWay<T>(sessionId: SessionId, moving: Promise<T>): Promise<T> {
    underWay.set(sessionId, moving);
    const done = () => {
      if (underWay.get(sessionId) === moving) underWay.delete(sessionId);
    };
    moving.then(done, done);
    return moving;
  }

  async function fetch(opening: Opening, resume: NonNullable<Opening['resume']>): Promise<Arrival> {
    const begun = epoch;
    // Where it comes from it counted already: only this instance must have room.
    if (!sessionTable.hasRoom()) return INSTANCE_FULL;
    const arrived = sessionTable.expect();
    const fetched = await arrivals.fetch(resume, opening.tenantId);
    arrived();
    if (begun !== epoch) return UNAVAILABLE;
    if (fetched.kind !== 'fetched') return fetched.kind === 'none' ? NONE : UNAVAILABLE;
    const session = rebuild(fetched.saved, opening, {
      at: clock.now(),
      skipped: fetched.isComplete ? 0 : skippedBy(settings),
    });
    sessionTable.add(session);
    await arrivals.recall(session, (utterance, job) => post(session, { kind: 'recalled', utterance, job }));
    // Abandoned with all others, or taken by somebody else: nobody could be told anything of it any more.
    if (session.phase === 'ended') return UNAVAILABLE;
    for (const utterance of [...session.delivery.waiting]) watch.follow(session, utterance);
    return { kind: 'arrived', session };
  }

  async function arriveAfter(opening: Opening, earlier: Promise<unknown>): Promise<Arrival> {
    await earlier.catch(() => {});
    return arrive(opening) ?? NONE;
  }

  function arrive(opening: Opening): Promise<Arrival> | undefined {
    const { resume } = opening;
    if (resume === undefined) return undefined;
    const moving = underWay.get(resume.sessionId);
    if (moving !== undefined) return arriveAfter(opening, moving);
    if (sessionTable.sessions.has(resume.sessionId)) return undefined;
    return noteUnderWay(resume.sessionId, fetch(opening, resume));
  }

  async function letGo(session: Session): Promise<boolean> {
    post(session, { kind: 'depart', why: 'released' });
    // Also if nothing has changed: a failover may have lost what was saved, and whoever takes it is told that it has all.
    noteChange(session, 'now');
    const isSaved = await saver.flush(session);
    saver.drop(session);
    return isSaved;
  }

  return {
    arrive,
    async release(sessionId) {
      await underWay.get(sessionId)?.catch(() => {});
      const session = sessionTable.sessions.get(sessionId);
      // Let go before: somebody has had it since, perhaps, of whom a failover has lost every trace. What that one used nobody knows.
      if (session === undefined) return false;
      // It is closing: nobody resumes it.
      if (!session.isShared) return false;
      return noteUnderWay(sessionId, letGo(session));
    },
    abandon() {
      epoch += 1;
    },
  };
}

const NONE = { kind: 'none' } as const;
const UNAVAILABLE = { kind: 'unavailable' } as const;
