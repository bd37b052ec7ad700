/**
 * Port: what another instance needs to go on with a session.
 *
 * The law: a session has one owner at a time, "instance/incarnation". Only it writes and removes; whoever was the owner before
 * finds out at its next call (`lost`) and changes nothing. A session passes on by comparison with the owner the taker has seen, so of
 * several takers one wins. What was saved later is never undone by an earlier save that arrives late. A state lives for
 * `ttlMs` after it was last saved, taken or touched, by the store's own clock. A save where nothing is, is the first one:
 * an emptied store heals by itself. A thrown error means *unknown*; every call may be repeated with the same effect.
 *
 * No results and no audio are in it: results are read from the job store, audio is with whoever received it. What a client says
 * again with its session_init is not in it either. Its size is bounded by the limits of one session.
 */
import type { JobId, SessionId, TenantId } from '../domain/ids.ts';

/** One utterance that was accepted, and whose outcome was not acknowledged. */
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
  /** Its outcome stands, whether or not it has left: the result of its job, or this reason why there is none. */
  readonly settled?: { readonly missing?: string | undefined } | undefined;
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
  /** Of the token that proves the right to resume. */
  readonly resumeDigest: string;
  readonly openedAt: number;
  readonly nextIndex: number;
  /** Highest chunk of an accepted utterance; those after it were not taken for good. */
  readonly lastSeq: number;
  /** Number of the outcome before that of the first utterance. */
  readonly deliverySeq: number;
  /** In the order of acceptance, which is that of their outcomes. */
  readonly utterances: readonly SavedUtterance[];
  readonly groups: readonly SavedGroup[];
}

export interface StoredSession {
  readonly owner: string;
  readonly state: SavedSession;
}

export type TakeResult =
  | { readonly kind: 'taken'; readonly state: SavedSession }
  /** Somebody else was quicker. */
  | { readonly kind: 'lost' }
  | { readonly kind: 'absent' };

export interface SessionStore {
  save(state: SavedSession, owner: string, ttlMs: number): Promise<'saved' | 'lost'>;
  load(sessionId: SessionId): Promise<StoredSession | undefined>;
  /** `from`: the owner it was seen with. Taken twice by the same owner it is taken. */
  take(sessionId: SessionId, owner: string, from: string, ttlMs: number): Promise<TakeResult>;
  /**
   * Renews many. `lost`: somebody else has them. `stale`: what is there is older than this revision, or nothing is: to be saved
   * again. The others are renewed.
   */
  touch(
    sessions: readonly Pick<SavedSession, 'sessionId' | 'revision'>[],
    owner: string,
    ttlMs: number,
  ): Promise<{ readonly lost: readonly SessionId[]; readonly stale: readonly SessionId[] }>;
  /** `removed`: nothing is there, and it was nobody else's. */
  remove(sessionId: SessionId, owner: string): Promise<'removed' | 'lost'>;
}
