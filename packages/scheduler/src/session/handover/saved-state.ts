/** Hot path: what of a session other instances must know, and the session made of it again. Pure. */
import type { SavedSession, SavedUtterance } from '../../ports/session-store.ts';
import { NEVER, settle } from '../outcomes/delivery.ts';
import { MISSING_REASONS, type MissingReason, type Outcome } from '../outcomes/outcome.ts';
import { createSession, type Opening, type Session, type Unsaved, type Utterance } from '../session.ts';

/** If this instance died now, another one would know of it and give it the same number. */
const isJobNameSaved = (session: Session, { jobId, savedJobId }: Utterance): boolean =>
  !session.isShared || savedJobId === jobId;

/**
 * Whether its outcome may leave: another instance would say the same. A result is in its job's record; that there is none is this
 * session's own word, and the job may yet have a result.
 */
export const isRecoverable = (session: Session, utterance: Utterance): boolean =>
  isJobNameSaved(session, utterance) &&
  (!session.isShared || utterance.isMissingSaved || !hasMissingOutcome(utterance));

export const hasMissingOutcome = ({ outcome }: Utterance): boolean => outcome?.kind === 'missing';

/**
 * Something changed that others must know: `now` if a client waits for that, `later` if whoever goes on with the session would find it
 * out by itself.
 */
export function noteChange(session: Session, urgency: Exclude<Unsaved, 'nothing'>): void {
  if (session.isShared && URGENCIES.indexOf(urgency) > URGENCIES.indexOf(session.unsaved))
    session.unsaved = urgency;
}

const URGENCIES: readonly Unsaved[] = ['nothing', 'later', 'soon', 'now'];

export function savedOf(session: Session): SavedSession {
  const { delivery } = session;
  return {
    sessionId: session.sessionId,
    revision: session.revision,
    tenantId: session.tenantId,
    resumeDigest: session.resumeDigest ?? '',
    openedAt: session.openedAt,
    nextIndex: session.nextIndex,
    lastSeq: session.sealedSeq,
    deliverySeq: (delivery.kept[0]?.deliverySeq ?? delivery.deliverySeq + 1) - 1,
    utterances: [
      ...delivery.kept.map(({ utterance, outcome }) => savedUtterance(utterance, outcome)),
      ...delivery.waiting.map((utterance) => savedUtterance(utterance, utterance.outcome)),
    ],
    groups: session.groups,
  };
}

const savedUtterance = (utterance: Utterance, outcome: Outcome | undefined): SavedUtterance => ({
  index: utterance.index,
  jobId: utterance.jobId,
  traceId: utterance.traceId,
  requestId: utterance.requestId,
  groupId: utterance.groupId,
  partIndex: utterance.partIndex,
  firstSeq: utterance.firstSeq,
  lastSeq: utterance.lastSeq,
  acceptedAt: utterance.acceptedAt,
  settled: outcome && (outcome.kind === 'missing' ? { missing: outcome.reason } : {}),
});

/** Saves of an earlier life of the session that arrive late must not look newer. */
const REVISIONS_APART = 1_000;

/**
 * Nothing has been heard of its jobs yet: every utterance without a word about it waits, also those that were delivered,
 * and gets its old number again. `skipped`: numbers the owner before may have used without anybody knowing.
 */
export function rebuild(
  saved: SavedSession,
  opening: Opening,
  given: { readonly at: number; readonly skipped: number },
): Session {
  const session = createSession(saved.sessionId, opening, {
    at: saved.openedAt,
    firstIndex: saved.nextIndex + given.skipped,
    resumeDigest: saved.resumeDigest,
    isShared: true,
  });
  session.revision = saved.revision + REVISIONS_APART;
  session.lastSeq = saved.lastSeq;
  session.sealedSeq = saved.lastSeq;
  session.groups = saved.groups.map((group) => ({ ...group, playedAt: group.playedAt }));
  // There are no more turns than utterances, and none may be continued by mistake.
  session.segmentation = { ...session.segmentation, turn: session.nextIndex };
  const { receivedSeq = 0 } = opening.resume ?? {};
  // What the client has heard is over, whatever else could be found out about it by now.
  const unheard = saved.utterances.slice(Math.max(0, receivedSeq - saved.deliverySeq));
  // It may have heard more than anybody remembers: what comes next has a number beyond that, for whoever takes the session next, too.
  session.delivery.deliverySeq = Math.max(
    receivedSeq,
    saved.deliverySeq + saved.utterances.length - unheard.length,
  );
  for (const one of unheard) {
    const utterance = rebuiltUtterance(one);
    session.delivery.waiting.push(utterance);
    if (utterance.requestId !== undefined && utterance.firstSeq === undefined)
      session.requests.set(utterance.requestId, utterance);
    const missing = one.settled?.missing;
    if (missing === undefined) session.running += 1;
    else settle(session.delivery, utterance, { kind: 'missing', reason: reasonOf(missing) }, given.at);
  }
  return session;
}

const rebuiltUtterance = (saved: SavedUtterance): Utterance => ({
  index: saved.index,
  jobId: saved.jobId,
  traceId: saved.traceId,
  requestId: saved.requestId,
  groupId: saved.groupId,
  partIndex: saved.partIndex,
  firstSeq: saved.firstSeq,
  lastSeq: saved.lastSeq,
  startedAt: saved.acceptedAt,
  acceptedAt: saved.acceptedAt,
  audioBytes: 0,
  // What has its outcome was accepted. Of the others only their job can tell.
  isAdmitted: saved.settled !== undefined,
  isAnnounced: saved.settled !== undefined,
  savedJobId: saved.jobId,
  isMissingSaved: saved.settled?.missing !== undefined,
  isAudioElsewhere: true,
  hadOutcome: saved.settled !== undefined,
  isPlaced: true,
  nodeId: undefined,
  isAbandoned: false,
  isHandedOver: false,
  sentUiEvents: 0,
  isSettled: false,
  outcome: undefined,
  readyAt: 0,
  recordReadAt: NEVER,
});

/** Of another version perhaps. */
const reasonOf = (text: string): MissingReason =>
  MISSING_REASONS.find((reason) => reason === text) ?? 'job_failed';
