/** Hot path: what the rest of the program may ask of sessions. */
import type { DispatchOutcome, DispatchRequest } from '../domain/dispatch.ts';
import type { ErrorCode } from '../domain/errors.ts';
import type { JobId, NodeId, SessionId, TenantId } from '../domain/ids.ts';
import type { JobRecord } from '../domain/job.ts';
import type { MaybePromise } from '../domain/maybe-promise.ts';
import type { JobEvents } from '../ports/job-events.ts';
import type { JobStore } from '../ports/job-store.ts';
import type { SessionStore } from '../ports/session-store.ts';
import type { LanguageUses } from './connection/language-use.ts';
import type { ClientEvent } from './event.ts';
import type { SessionLink } from './output.ts';
import type { Opening, Session } from './session.ts';

/** What sessions need of the job engine. */
export interface JobDispatcher {
  dispatch(request: DispatchRequest): Promise<DispatchOutcome>;
  /** `code`: what the job then failed with. */
  cancel(jobId: JobId, message: string, code: ErrorCode): Promise<unknown>;
  waiting(): number;
}

/** What sessions need of other instances. */
export interface Elsewhere {
  readonly store: SessionStore;
  /** "instance/incarnation" of this process, as it is now. */
  readonly owner: () => string;
  readonly records: Pick<JobStore, 'get'>;
  /** Of jobs that other instances drive, too. */
  readonly events: Pick<JobEvents, 'subscribe'>;
  /** Asks an owner to let a session go. True: it has, and has saved all of it. */
  readonly release: (owner: string, sessionId: SessionId) => Promise<boolean>;
  /** Told of a job that is followed and does not move: perhaps nobody drives it. */
  readonly checkDriver: (job: JobRecord) => void;
}

export interface SessionsFull {
  readonly kind: 'full';
  readonly limit: 'instance' | 'tenant';
  /** For people: which limit it is, and what can be done. */
  readonly detail: string;
}

export type Opened =
  | { readonly kind: 'opened'; readonly sessionId: SessionId }
  | SessionsFull
  /** Whether there is a session to resume cannot be known now. */
  | { readonly kind: 'unavailable' };

export interface SessionView {
  readonly sessionId: SessionId;
  readonly tenantId: TenantId;
  readonly openedAt: number;
  readonly isConnected: boolean;
  readonly isLegacy: boolean;
  readonly platform: string;
  readonly source: string;
  readonly target: string;
  readonly mode: string | undefined;
  /** Of the two of a two-way conversation. */
  readonly languageA: string | undefined;
  readonly languageB: string | undefined;
  readonly nextIndex: number;
  /** Number of the last outcome that left. */
  readonly deliverySeq: number;
  readonly running: number;
  /** Ready, behind one that is not. */
  readonly pending: number;
  /** Delivered and not acknowledged. */
  readonly kept: number;
  readonly audioBytes: number;
  readonly phase: Session['phase'];
  /** Without a client: when it is given up. */
  readonly expiresAt: number | undefined;
}

/** Without a cursor it is the last one. */
export interface SessionPage {
  readonly sessions: readonly SessionView[];
  readonly cursor?: string;
}

export interface SessionService {
  /**
   * Opens one, or the one that is resumed. The client is told on its link before this returns, or its promise does: only the resume of
   * a session that is not here has to wait.
   */
  open(opening: Opening, link: SessionLink): MaybePromise<Opened>;
  /** `unknown`: not open, or not for this credential. */
  receive(sessionId: SessionId, credential: string, event: ClientEvent): 'taken' | 'unknown';
  /** The connection is gone. */
  left(sessionId: SessionId, link: SessionLink): void;
  /** Heard for every job; only those of sessions matter. */
  jobMoved(job: JobRecord): void;
  /** `by`: the node that says so; heard only while the job is its own. Absent: whoever has it. */
  partial(jobId: JobId, text: string, isFinal: boolean, by?: NodeId): void;
  /** Tells everybody to move, and seals what was said. `ended`: every utterance has its outcome, or the time is over. */
  drain(limits: { reconnectAfterMs: number; limitMs: number }): { notified: number; ended: Promise<void> };
  /**
   * Another instance wants it: saves it, and forgets it without cancelling anything. True: all of it is saved. False: not all, or it is
   * not here, and nobody can say.
   */
  release(sessionId: SessionId): Promise<boolean>;
  /** This instance may serve nobody any more: closes every connection, forgets all sessions, cancels and writes nothing. */
  abandonAll(): void;
  /** The store may have lost something: looks whether all sessions are there, and writes those again that are not. */
  reassert(): void;
  /** Newest first. A page may be short, or empty, and still have a cursor. */
  list(query: { tenantId?: TenantId; limit: number; cursor?: string }): SessionPage;
  isFull(): boolean;
  /** Why this tenant may have no other session now, if that is its own cap. */
  capRefusal(tenantId: TenantId): SessionsFull | undefined;
  /** Of the sessions that are connected. */
  languageUses(): LanguageUses;
  counts(): { sessions: number; connected: number; watched: number; resultBytes: number };
  /** Tenants whose sessions are counted. */
  tenants(): number;
  stop(): void;
}
