/**
 * Hot path: saves the state that other instances need to resume a session. At most one write per session is in progress; changes during
 * it go with the next one. A change that a client waits for is written at once, others together after a delay. A change that a new
 * owner would find out without the save waits for the next utterance, up to a limit.
 */
import type { Chance } from '../../ports/chance.ts';
import type { Cancel, Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import type { SessionStore } from '../../ports/session-store.ts';
import type { SessionEvent } from '../event.ts';
import type { Session } from '../session.ts';
import { hasMissingOutcome, isRecoverable, savedOf } from './saved-state.ts';

export interface SessionSaver {
  /** The session has unsaved changes. */
  schedule(session: Session): void;
  /** True when all of it is written; false if the write failed, or another instance owns it. */
  flush(session: Session): Promise<boolean>;
  /** The session ended. `removed`: no other instance owned it. */
  remove(session: Session): Promise<'removed' | 'lost' | 'unknown'>;
  /** Stops writing it. */
  drop(session: Session): void;
  /** Checks soon whether all saved states still exist: a Redis failover may have lost some. */
  reassert(): void;
  /** Stops writing all sessions. */
  stop(): void;
}

const SOON_MS = 500;
/** Longer than people usually pause between two utterances. */
const LATER_MS = 5_000;
const RETRY_DELAY_MS = 250;
/** How long a saved state outlives its owner; renewed after a third of it. */
export const SHARED_TTL_MS = 600_000;
const RENEW_AFTER_MS = SHARED_TTL_MS / 3;
/** The owner ends a disconnected session. If the owner is dead, the store does so this much later. */
const EXPIRY_GRACE_MS = 5_000;
const TICK_MS = 5_000;
const RENEWED_PER_TICK = 2_000;
const WARN_EVERY_MS = 10_000;

interface Entry {
  isWriting: boolean;
  /** Resolves with the last write, also if it fails. */
  written: Promise<void>;
  /** The last write failed, and the next is not due yet. */
  isBackingOff: boolean;
  cancel: Cancel | undefined;
  /** Time of the scheduled write. */
  dueAt: number;
  /** Notified by the write in progress (`waiting`) and by the one after it (`next`). */
  waiting: ((isSaved: boolean) => void)[];
  next: ((isSaved: boolean) => void)[];
  renewedAt: number;
  /** The last revision that the store confirmed. */
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
    log.warn({ err: fault }, 'could not save sessions; messages to their clients wait for the save');
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
    const { deliverySeq } = session.delivery;
    const names = session.delivery.waiting
      .filter((utterance) => !isRecoverable(session, utterance))
      .map((utterance) => ({
        utterance,
        jobId: utterance.jobId,
        includesMissing: hasMissingOutcome(utterance),
      }));
    entry.written = store.save(savedOf(session), owner(), ttlOf(session)).then(
      (result) =>
        result === 'saved' ? saved(session, entry, revision, { names, deliverySeq }) : lost(session, entry),
      (fault: unknown) => failed(session, entry, fault),
    );
  }

  function saved(
    session: Session,
    entry: Entry,
    revision: number,
    contents: Omit<Extract<SessionEvent, { kind: 'saved' }>, 'kind'>,
  ): void {
    if (entries.get(session) !== entry) return;
    entry.isWriting = false;
    entry.savedRevision = revision;
    renewed(session, entry);
    for (const notify of entry.waiting.splice(0)) notify(true);
    const hasWaiting = contents.names.length > 0 || contents.deliverySeq > session.sentSeq;
    if (hasWaiting) post(session, { kind: 'saved', ...contents });
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
    // The scheduled write must wait until the session is retaken; now it would be rejected as another loss.
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
   * An instance that takes a session gets the last saved state. If the stored state is older than our last save, a failover restored it
   * together with an earlier owner, which does not know what the client received since (I5). So we take it again and write it.
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

  /** It is unknown whether the write happened: the whole state is written again. */
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
      // The time of a disconnected session is not extended; but the store may have lost its state.
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
        // A write in progress gets the same answer.
        if (entry === undefined || entry.isWriting) continue;
        renewed(session, entry);
        // `remove` waits for this: the session may be retaken in between.
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
        // Otherwise the write in progress would restore it.
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
