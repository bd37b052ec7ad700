/** Hot path: the interface of sessions to the rest of the program. */
import type { DispatchOutcome, DispatchRequest } from '../domain/dispatch.ts';
import type { ErrorCode } from '../domain/errors.ts';
import type { JobId, NodeId, SessionId, TenantId } from '../domain/ids.ts';
import type { JobRecord } from '../domain/job.ts';
import type { MaybePromise } from '../domain/with-timeout.ts';
import type { JobEvents } from '../ports/job-events.ts';
import type { JobStore } from '../ports/job-store.ts';
import type { SessionStore } from '../ports/session-store.ts';
import type { LanguageUses } from './connection/language-use.ts';
import type { ClientEvent } from './event.ts';
import type { SessionLink } from './output.ts';
import type { Opening, Session } from './session.ts';
import type { LoggedEvent } from './session-log.ts';

/** The part of the job engine that sessions use. */
export interface JobDispatcher {
  dispatch(request: DispatchRequest): MaybePromise<DispatchOutcome>;
  /** `code`: the failure code of the cancelled job. */
  cancel(jobId: JobId, message: string, code: ErrorCode): Promise<unknown>;
  waiting(): number;
}

/** The parts that connect sessions with other instances. */
export interface Elsewhere {
  readonly store: SessionStore;
  /** Current "instance/incarnation" of this process. */
  readonly owner: () => string;
  readonly records: Pick<JobStore, 'get'>;
  /** Includes jobs that other instances drive. */
  readonly events: Pick<JobEvents, 'subscribe'>;
  /** Requests a session from its owner. True: the owner released it and saved all of it. */
  readonly release: (owner: string, sessionId: SessionId) => Promise<boolean>;
  /** Checks whether a followed job that does not move still has a driver. */
  readonly checkDriver: (job: JobRecord) => void;
}

export interface SessionsFull {
  readonly kind: 'full';
  readonly limit: 'instance' | 'tenant';
  /** For people: which limit was reached and what can be done. */
  readonly detail: string;
}

export type Opened =
  | { readonly kind: 'opened'; readonly sessionId: SessionId }
  | SessionsFull
  /** The store cannot be read, so it is unknown whether the session to resume exists. */
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
  /** The two languages of a two-way conversation. */
  readonly languageA: string | undefined;
  readonly languageB: string | undefined;
  readonly nextIndex: number;
  /** Number of the last delivered outcome. */
  readonly deliverySeq: number;
  readonly running: number;
  /** Outcomes that are ready and wait for an earlier one. */
  readonly pending: number;
  /** Outcomes that are delivered and not acknowledged. */
  readonly kept: number;
  readonly audioBytes: number;
  readonly phase: Session['phase'];
  /** Without a client: when the session ends. */
  readonly expiresAt: number | undefined;
}

export interface DescribedSession {
  /** Absent: it is not on this instance. */
  readonly session?: SessionView | undefined;
  /** Oldest first. */
  readonly events: readonly LoggedEvent[];
}

/** The last page has no cursor. */
export interface SessionPage {
  readonly sessions: readonly SessionView[];
  readonly cursor?: string;
}

export interface SessionService {
  /**
   * Opens a new session or resumes one. The client gets `opened` on its link before this returns or its promise resolves. Only the
   * resume of a session of another instance returns a promise.
   */
  open(opening: Opening, link: SessionLink): MaybePromise<Opened>;
  /** `unknown`: not open, or not for this credential. */
  receive(sessionId: SessionId, credential: string, event: ClientEvent): 'taken' | 'unknown';
  /** The connection ended. */
  left(sessionId: SessionId, link: SessionLink): void;
  /** The next utterance_index, for a text of another member of its room: a legacy client shows each index once. Undefined: not here. */
  takeIndex(sessionId: SessionId): number | undefined;
  /** Called for every job; jobs without a session are ignored. */
  jobMoved(job: JobRecord): void;
  /** `by`: the reporting node; ignored unless its attempt is the current one. Absent: not checked. False: no session waits for the job. */
  partial(jobId: JobId, text: string, isFinal: boolean, by?: NodeId): boolean;
  /** Sends every client to another instance and seals open utterances. `ended` resolves when every utterance has its outcome, or at the limit. */
  drain(limits: { reconnectAfterMs: number; limitMs: number }): { notified: number; ended: Promise<void> };
  /**
   * Another instance requests it: saves it and removes it here without cancelling anything. True: all of it is saved. False: not all
   * of it, or it is not on this instance.
   */
  release(sessionId: SessionId): Promise<boolean>;
  /** This instance may serve no client any more: closes every connection and removes all sessions; cancels and writes nothing. */
  abandonAll(): void;
  /** The store may have lost writes: checks all saved sessions and writes the missing ones again. */
  reassert(): void;
  /** Newest first. A short or empty page may still have a cursor. */
  list(query: { tenantId?: TenantId; limit: number; cursor?: string }): SessionPage;
  /** An operator ends it: the audio so far is still translated, then its connection is closed. False: it is not on this instance. */
  close(sessionId: SessionId): boolean;
  /**
   * Erases what was said: with a job, what the session keeps of it; otherwise the session ends and its jobs are cancelled. False: it is not
   * on this instance, or belongs to another tenant. Without a tenant: of any.
   */
  erase(order: {
    readonly sessionId: SessionId;
    readonly tenantId?: TenantId | undefined;
    readonly jobId?: JobId | undefined;
  }): boolean;
  isFull(): boolean;
  /** Why this tenant may open no further session now, if its own cap is the reason. */
  capRefusal(tenantId: TenantId): SessionsFull | undefined;
  /** Open sessions of each tenant. */
  byTenant(): ReadonlyMap<TenantId, number>;
  /** A session, or what is remembered of it. */
  describe(sessionId: SessionId): DescribedSession;
  /** Of connected sessions. */
  languageUses(): LanguageUses;
  counts(): { sessions: number; connected: number; watched: number; resultBytes: number };
  /** Tenants whose sessions are counted. */
  tenants(): number;
  stop(): void;
}
