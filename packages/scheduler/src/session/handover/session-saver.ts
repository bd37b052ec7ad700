/**
 * Hot path: writes down what other instances need to go on with a session. At most one write per session is under way; what
 * changes meanwhile goes with the next. A change that a client waits for is written at once, others a moment later, together; what
 * others would find out by themselves goes with the next utterance, if there is one soon.
 */
import type { Chance } from '../../ports/chance.ts';
import type { Cancel, Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import type { SessionStore } from '../../ports/session-store.ts';
import type { SessionEvent } from '../event.ts';
import type { Session } from '../session.ts';
import { hasMissingOutcome, isRecoverable, savedOf } from './saved-state.ts';

export interface SessionSaver {
  /** Something of it is unsaved. */
  schedule(session: Session): void;
  /** True when all of it is written; false if that failed, or it is somebody else's. */
  flush(session: Session): Promise<boolean>;
  /** It is over. `removed`: it was nobody else's. */
  remove(session: Session): Promise<'removed' | 'lost' | 'unknown'>;
  /** Nothing more is written of it. */
  drop(session: Session): void;
  /** Looks soon whether all that was written is still there: a store that lost its master may have lost some. */
  reassert(): void;
  /** Nothing is written any more, of any. */
  stop(): void;
}

const SOON_MS = 500;
/** Longer than people usually pause between two utterances. */
const LATER_MS = 5_000;
const RETRY_DELAY_MS = 250;
/** How long a session outlives its owner; renewed when a third of it is over. */
export const SHARED_TTL_MS = 600_000;
const RENEW_AFTER_MS = SHARED_TTL_MS / 3;
/** A session that is waited for is ended by its owner; where that is dead, by the store, a little later. */
const EXPIRY_GRACE_MS = 5_000;
const TICK_MS = 5_000;
const RENEWED_PER_TICK = 2_000;
const WARN_EVERY_MS = 10_000;

interface Entry {
  isWriting: boolean;
  /** Settles with the last write, whatever becomes of it. */
  written: Promise<void>;
  /** The last write failed, and the next is not due yet. */
  isBackingOff: boolean;
  cancel: Cancel | undefined;
  /** When it is written, if it waits for that. */
  dueAt: number;
  /** Told by the write under way, and by the one after it. */
  waiting: ((isSaved: boolean) => void)[];
  next: ((isSaved: boolean) => void)[];
  renewedAt: number;
  /** What the store has said that it has. */
  savedRevision: number;
}

export function createSessionSaver(deps: {
  readonly store: SessionStore;
  readonly owner: () => string;
  readonly clock: Clock;
  readonly chance: Chance;
  readonly log: Log;
  readonly post: (session: Session, event: SessionEvent) => void;
}): SessionSaver {
  const { store, owner, clock, log, post } = deps;
  /** In the order of their last renewal. */
  const entries = new Map<Session, Entry>();
  let cancelTick: Cancel | undefined;
  let warnedAt = Number.NEGATIVE_INFINITY;

  function entryOf(session: Session): Entry {
    let entry = entries.get(session);
    if (entry === undefined) {
      entry = {
        isWriting: false,
        written: Promise.resolve(),
        isBackingOff: false,
        cancel: undefined,
        dueAt: 0,
        waiting: [],
        next: [],
        renewedAt: clock.now(),
        savedRevision: 0,
      };
      entries.set(session, entry);
      cancelTick ??= clock.after(TICK_MS, tick);
    }
    return entry;
  }

  function renewed(session: Session, entry: Entry): void {
    entry.renewedAt = clock.now();
    entries.delete(session);
    entries.set(session, entry);
  }

  function drop(session: Session): void {
    const entry = entries.get(session);
    if (entry === undefined) return;
    entries.delete(session);
    entry.cancel?.();
    for (const notify of [...entry.waiting.splice(0), ...entry.next.splice(0)]) notify(false);
    if (entries.size > 0) return;
    cancelTick?.();
    cancelTick = undefined;
  }

  const ttlOf = ({ expiresAt }: Session): number =>
    expiresAt === undefined ? SHARED_TTL_MS : Math.max(0, expiresAt - clock.now()) + EXPIRY_GRACE_MS;

  function writeAfter(session: Session, entry: Entry, ms: number): void {
    const dueAt = clock.now() + ms;
    if (entry.cancel !== undefined && entry.dueAt <= dueAt) return;
    entry.cancel?.();
    entry.dueAt = dueAt;
    entry.cancel = clock.after(ms, () => write(session, entry));
  }

  function warnNotSaved(fault: unknown): void {
    if (clock.now() - warnedAt < WARN_EVERY_MS) return;
    warnedAt = clock.now();
    log.warn({ err: fault }, 'sessions could not be saved; what clients wait for is held until they are');
  }

  function write(session: Session, entry: Entry): void {
    entry.cancel?.();
    entry.cancel = undefined;
    entry.isWriting = true;
    entry.isBackingOff = false;
    entry.waiting = entry.next;
    entry.next = [];
    session.unsaved = 'nothing';
    session.revision += 1;
    const { revision } = session;
    const names = session.delivery.waiting
      .filter((utterance) => !isRecoverable(session, utterance))
      .map((utterance) => ({
        utterance,
        jobId: utterance.jobId,
        includesMissing: hasMissingOutcome(utterance),
      }));
    entry.written = store.save(savedOf(session), owner(), ttlOf(session)).then(
      (result) => (result === 'saved' ? saved(session, entry, revision, names) : lost(session, entry)),
      (fault: unknown) => failed(session, entry, fault),
    );
  }

  function saved(
    session: Session,
    entry: Entry,
    revision: number,
    names: Extract<SessionEvent, { kind: 'saved' }>['names'],
  ): void {
    if (entries.get(session) !== entry) return;
    entry.isWriting = false;
    entry.savedRevision = revision;
    renewed(session, entry);
    for (const notify of entry.waiting.splice(0)) notify(true);
    if (names.length > 0) post(session, { kind: 'saved', names });
    if (entries.get(session) === entry) proceed(session, entry);
  }

  function proceed(session: Session, entry: Entry): void {
    if (entry.isWriting) return;
    if (session.unsaved === 'now' || entry.next.length > 0) write(session, entry);
    else if (session.unsaved === 'soon') writeAfter(session, entry, SOON_MS);
    else if (session.unsaved === 'later') writeAfter(session, entry, LATER_MS);
  }

  async function lost(session: Session, entry: Entry): Promise<void> {
    entry.isWriting = true;
    // What waits to be written is, once it is ours again; written now, it would be taken for another loss.
    entry.cancel?.();
    entry.cancel = undefined;
    try {
      if (await retake(session, entry)) return;
    } catch (fault) {
      return failed(session, entry, fault);
    }
    if (entries.get(session) !== entry) return;
    drop(session);
    post(session, { kind: 'depart', why: 'taken' });
  }

  /**
   * Whoever takes a session finds what was saved last. What is older than that is what a failover left of it, and its owner one from
   * before, who does not know what its client has heard since (I5): it is ours, and written again.
   */
  async function retake(session: Session, entry: Entry): Promise<boolean> {
    const { sessionId } = session;
    const stored = await store.load(sessionId);
    if (stored === undefined || stored.state.revision >= entry.savedRevision) return false;
    if (entries.get(session) !== entry) return false;
    const taken = await store.take(sessionId, owner(), stored.owner, SHARED_TTL_MS);
    if (taken.kind !== 'taken' || entries.get(session) !== entry) return false;
    entry.isWriting = false;
    entry.next.unshift(...entry.waiting.splice(0));
    rewrite(session, entry);
    return true;
  }

  /** Whether it was written is not known: all of it is written again. */
  function failed(session: Session, entry: Entry, fault: unknown): void {
    if (entries.get(session) !== entry) return;
    warnNotSaved(fault);
    entry.isWriting = false;
    entry.isBackingOff = true;
    session.unsaved = 'now';
    for (const notify of [...entry.waiting.splice(0), ...entry.next.splice(0)]) notify(false);
    writeAfter(session, entry, RETRY_DELAY_MS * (0.5 + deps.chance()));
  }

  function tick(): void {
    cancelTick = clock.after(TICK_MS, tick);
    const due: Session[] = [];
    const disconnected: [Session, Entry][] = [];
    for (const [session, entry] of entries) {
      if (due.length + disconnected.length >= RENEWED_PER_TICK) break;
      if (clock.now() - entry.renewedAt < RENEW_AFTER_MS) break;
      if (entry.isWriting || session.unsaved !== 'nothing') continue;
      if (session.link !== undefined) due.push(session);
      // One that is waited for has its time, which is not lengthened; but the store may have lost it.
      else disconnected.push([session, entry]);
    }
    if (due.length > 0) void touch(due);
    for (const [session, entry] of disconnected) rewrite(session, entry);
  }

  async function touch(due: readonly Session[]): Promise<void> {
    try {
      const answer = await store.touch(due, owner(), SHARED_TTL_MS);
      const [gone, stale] = [new Set(answer.lost), new Set(answer.stale)];
      for (const session of due) {
        const entry = entries.get(session);
        // A write that is under way finds out by itself.
        if (entry === undefined || entry.isWriting) continue;
        renewed(session, entry);
        // Whoever removes it waits for this, too: it may be taken back meanwhile.
        if (gone.has(session.sessionId)) entry.written = lost(session, entry);
        else if (stale.has(session.sessionId)) rewrite(session, entry);
      }
    } catch (fault) {
      warnNotSaved(fault);
    }
  }

  function rewrite(session: Session, entry: Entry): void {
    session.unsaved = 'now';
    proceed(session, entry);
  }

  return {
    schedule(session) {
      const entry = entryOf(session);
      if (!entry.isBackingOff) proceed(session, entry);
    },
    flush(session) {
      const entry = entryOf(session);
      if (!entry.isWriting && session.unsaved === 'nothing' && session.revision > 0)
        return Promise.resolve(true);
      return new Promise((resolve) => {
        const isUnderWay = entry.isWriting && session.unsaved === 'nothing';
        (isUnderWay ? entry.waiting : entry.next).push(resolve);
        proceed(session, entry);
      });
    },
    async remove(session) {
      const { written } = entries.get(session) ?? {};
      drop(session);
      try {
        // Or what is under way would bring it back.
        await written;
        return await store.remove(session.sessionId, owner());
      } catch (fault) {
        warnNotSaved(fault);
        return 'unknown';
      }
    },
    drop,
    reassert() {
      for (const entry of entries.values()) entry.renewedAt = Number.NEGATIVE_INFINITY;
    },
    stop() {
      for (const session of [...entries.keys()]) drop(session);
    },
  };
}
