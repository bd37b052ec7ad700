/**
 * Port: the state that another instance needs to continue a session.
 *
 * The law: a session has one owner at a time, "instance/incarnation". Only the owner writes and removes; a former owner gets `lost` at its
 * next call and changes nothing. A takeover compares the owner that the new one has read, so of several instances one wins. A late save
 * never overwrites a newer one. A state is kept for `ttlMs` after it was last saved, taken or touched, by the store's clock. A save without
 * an existing state counts as the first one, so an emptied store recovers. A thrown error means *unknown*; every call may be repeated with
 * the same effect.
 *
 * It contains no results and no audio: results are in the job store, audio is on the instance that received it. It does not contain what a
 * client repeats with its session_init. Its size is bounded by the limits of one session.
 */
import type { JobId, SessionId, TenantId } from '../domain/ids.ts';
import type { Language } from '../domain/language.ts';
import type { PartKind } from '../domain/plan.ts';

/** One accepted utterance whose outcome was not acknowledged. */
export interface SavedUtterance {
  readonly index: number;
  readonly jobId: JobId;
  readonly traceId: string;
  readonly requestId?: string | undefined;
  readonly groupId: string;
  readonly partIndex: number;
  readonly firstSeq?: number | undefined;
  readonly lastSeq?: number | undefined;
  readonly acceptedAt: number;
  /** The outcome, sent or not: the result of its job, or the reason why there is none. */
  readonly settled?: { readonly missing?: string | undefined } | undefined;
  /** One of several outcomes of the utterance. */
  readonly rendition?:
    | {
        readonly plan: string;
        readonly source: Language;
        readonly language: Language;
        readonly kind: PartKind;
        /** The only outcome. */
        readonly isWhole?: boolean | undefined;
      }
    | undefined;
}

export interface SavedGroup {
  readonly groupId: string;
  readonly parts: number;
  readonly context: string;
  readonly playedAt?: number | undefined;
}

export interface SavedSession {
  readonly sessionId: SessionId;
  /** Grows with every save. */
  readonly revision: number;
  readonly tenantId: TenantId;
  /** Hash of the token that allows a resume. */
  readonly resumeDigest: string;
  readonly openedAt: number;
  readonly nextIndex: number;
  /** Highest chunk of an accepted utterance; later chunks are not safe yet. */
  readonly lastSeq: number;
  /** Sequence number of the outcome before that of the first utterance. */
  readonly deliverySeq: number;
  /** First those whose outcomes were delivered, by their numbers, then the others in the order of acceptance. */
  readonly utterances: readonly SavedUtterance[];
  readonly groups: readonly SavedGroup[];
}

export interface StoredSession {
  readonly owner: string;
  readonly state: SavedSession;
}

export type TakeResult =
  | { readonly kind: 'taken'; readonly state: SavedSession }
  /** Another instance took the session first. */
  | { readonly kind: 'lost' }
  | { readonly kind: 'absent' };

export interface SessionStore {
  save(state: SavedSession, owner: string, ttlMs: number): Promise<'saved' | 'lost'>;
  load(sessionId: SessionId): Promise<StoredSession | undefined>;
  /** `from`: the owner that the caller has read. Repeated by the same owner it succeeds. */
  take(sessionId: SessionId, owner: string, from: string, ttlMs: number): Promise<TakeResult>;
  /**
   * Renews many. `lost`: another instance owns them. `stale`: the stored state is older than this revision or missing and must be saved
   * again. The others are renewed.
   */
  touch(
    sessions: readonly Pick<SavedSession, 'sessionId' | 'revision'>[],
    owner: string,
    ttlMs: number,
  ): Promise<{ readonly lost: readonly SessionId[]; readonly stale: readonly SessionId[] }>;
  /** `removed`: no state is left, and no other instance owned it. */
  remove(sessionId: SessionId, owner: string): Promise<'removed' | 'lost'>;
}
